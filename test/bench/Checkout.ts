import { readFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { fileURLToPath } from "node:url"

/** A folder with the server's source and dependencies, and the command of `npm start` there. */
export interface Checkout {
  readonly root: string
  readonly node: string
  readonly flags: ReadonlyArray<string>
  readonly variables: Readonly<Record<string, string>>
}

/** Reads the checkout in a folder. Older checkouts need no support for the bench. */
export const read = (folder: string): Checkout => {
  const root = resolve(folder)
  const manifest: { readonly scripts: { readonly start: string } } = JSON.parse(
    readFileSync(join(root, "package.json"), "utf8")
  )
  const [, variables = "", flags = ""] = /^(.*) exec node (.*) src\/main\.ts$/.exec(manifest.scripts.start) ?? []
  return {
    root,
    node: join(root, "node_modules/.bin/node"),
    flags: flags.split(" "),
    variables: Object.fromEntries(variables.split(" ").map((pair) => pair.split("=")))
  }
}

/** The checkout of this bench. */
export const ours: Checkout = read(fileURLToPath(new URL("../..", import.meta.url)))
