import type { ParcelState } from "./parcel.js";

export class Courier {
  constructor(private readonly url: string) {}

  async whereIs(id: string): Promise<ParcelState> {
    while (true) {
      try {
        const answer = await fetch(`${this.url}/track/${id}`);
        const body = (await answer.json()) as { state: ParcelState };
        return body.state;
      } catch {
        // The courier is often away for a moment: ask again at once.
      }
    }
  }
}
