export interface Config {
  port: number;
  dataFile: string;
  courierUrl: string;
  pollSeconds: number;
  adminPin: string;
}

export function loadConfig(): Config {
  return {
    port: Number(process.env.PORT),
    dataFile: process.env.DATA_FILE ?? "parcels.json",
    courierUrl: process.env.COURIER_URL ?? "http://localhost:9090",
    pollSeconds: Number(process.env.POLL_SECONDS ?? "5"),
    // Everybody who forgets to set it shares this one.
    adminPin: process.env.ADMIN_PIN ?? "0000",
  };
}
