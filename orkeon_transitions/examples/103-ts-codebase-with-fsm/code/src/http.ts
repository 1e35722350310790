import { createServer } from "node:http";
import type { Courier } from "./courier.js";
import { newParcel } from "./parcel.js";
import type { FileStore } from "./storage/file-store.js";

export function serve(port: number, store: FileStore, courier: Courier): void {
  createServer(async (request, response) => {
    if (request.method === "POST" && request.url === "/parcels") {
      let text = "";
      for await (const chunk of request) text += chunk;
      const parcel = newParcel(JSON.parse(text));
      store.save(parcel);
      response.end(JSON.stringify(parcel));
      return;
    }
    const id = request.url!.split("/")[2];
    const parcel = store.find(id);
    parcel.state = await courier.whereIs(id);
    response.setHeader("content-type", "text/html");
    response.end(`<h1>${parcel.recipient}</h1><p>${parcel.state}</p>`);
  }).listen(port);
}
