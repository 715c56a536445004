import { execFile } from "node:child_process"
import { existsSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"

/** Where Node keeps what it compiled of the program, so that not each process does it anew. */
export const folder = fileURLToPath(new URL("../../node_modules/.cache/node", import.meta.url))

/** Does nothing but read all that the program is made of. */
const program = fileURLToPath(new URL("../../src/layers/Server.ts", import.meta.url))

/** Reads the program once where nobody has: a dozen processes that begin at once would all compile it. */
export const prepare = async () => {
  if (existsSync(folder)) return
  await promisify(execFile)(process.execPath, [program], {
    env: { ...process.env, ["NODE_COMPILE_CACHE"]: folder }
  })
}
