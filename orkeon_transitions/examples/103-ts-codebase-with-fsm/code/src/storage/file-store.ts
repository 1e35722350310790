import { existsSync, readFileSync, writeFileSync } from "node:fs";
import type { Parcel } from "../parcel.js";

export class FileStore {
  private parcels: Record<string, Parcel> = {};

  constructor(private readonly file: string) {
    if (existsSync(file)) {
      this.parcels = JSON.parse(readFileSync(file, "utf8"));
    }
  }

  all(): Parcel[] {
    return Object.values(this.parcels);
  }

  find(id: string): Parcel {
    return this.parcels[id];
  }

  save(parcel: Parcel): void {
    this.parcels[parcel.id] = parcel;
    // A crash in the middle of this leaves half a file behind.
    writeFileSync(this.file, JSON.stringify(this.parcels));
  }
}
