"""A session that shows what a test tells it to, and writes down what it was asked."""

import threading


class FakeSession:
    def __init__(self, **traits):
        self.traits = {"page": "machine", "title": {"name": "a machine"}} | traits
        self.asked = []
        self.is_closed = False
        self.asked_for = threading.Event()
        self._listeners = []

    def view(self):
        return dict(self.traits)

    def act(self, message):
        self.asked.append(message)
        self.asked_for.set()
        match message["do"]:
            case "fire":
                self.change(now={"state": message["trigger"]})
                return None
            case "raise":
                raise ZeroDivisionError("by nobody")
            case "reload":
                self.change(page="machine", problems=[])
                return None
        return {"error": f"no '{message['do']}'"}

    def change(self, **traits):
        self.traits |= traits
        for listener in list(self._listeners):
            listener(traits)

    def subscribe(self, listener):
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    @property
    def listeners(self):
        return len(self._listeners)

    def close(self):
        self.is_closed = True


class FakeSessions:
    """Makes them, and remembers which."""

    def __init__(self, **traits):
        self.made = []
        self.traits = traits

    def __call__(self):
        session = FakeSession(**self.traits)
        self.made.append(session)
        return session
