import { execFile } from "node:child_process"
import { existsSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"

/** Folder of Node's compile cache, so that each process need not compile the program. */
export const folder = fileURLToPath(new URL("../../node_modules/.cache/node", import.meta.url))

/** Module that imports the whole program and does nothing else. */
const program = fileURLToPath(new URL("../../src/layers/Server.ts", import.meta.url))

/** Fills the compile cache if it is missing: otherwise a dozen processes that start at once would all compile. */
export const prepare = async () => {
  if (existsSync(folder)) return
  await promisify(execFile)(process.execPath, [program], {
    env: { ...process.env, ["NODE_COMPILE_CACHE"]: folder }
  })
}
