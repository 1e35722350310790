export type ParcelState = "waiting" | "on-the-road" | "delivered" | "lost";

export interface Parcel {
  id: string;
  recipient: string;
  weightInGrams: number;
  state: ParcelState;
  history: any[];
}

export function newParcel(data: any): Parcel {
  return { ...data, state: "waiting", history: [] } as Parcel;
}

export function isHeavy(parcel: Parcel): boolean {
  return parcel.weightInGrams > 10_000;
}

export function move(parcel: Parcel, state: ParcelState): void {
  // "delivered" back to "waiting" is possible, though it never should be.
  parcel.history.push({ from: parcel.state, to: state });
  parcel.state = state;
}
