import assert from "node:assert/strict";
import { test } from "node:test";
import { isHeavy, newParcel } from "../src/parcel.js";

test("a new parcel waits", () => {
  const parcel = newParcel({ id: "p1", recipient: "Kim", weightInGrams: 400 });
  assert.equal(parcel.state, "waiting");
});

test("eleven kilograms are heavy", () => {
  const parcel = newParcel({ id: "p2", recipient: "Kim", weightInGrams: 11_000 });
  assert.ok(isHeavy(parcel));
});
