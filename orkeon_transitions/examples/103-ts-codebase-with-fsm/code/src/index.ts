import { loadConfig } from "./config.js";
import { Courier } from "./courier.js";
import { serve } from "./http.js";
import { FileStore } from "./storage/file-store.js";

const config = loadConfig();
const store = new FileStore(config.dataFile);
const courier = new Courier(config.courierUrl);

serve(config.port, store, courier);

setInterval(async () => {
  for (const parcel of store.all()) {
    parcel.state = await courier.whereIs(parcel.id);
    store.save(parcel);
  }
}, config.pollSeconds * 1000);
