import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { parse, type Parsed } from "./Markdown.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))

/** All documents of the repository by path, parsed. */
export const documents: ReadonlyMap<string, Parsed> = new Map(
  [
    ...readdirSync(root),
    ...readdirSync(`${root}docs`, { recursive: true, encoding: "utf8" }).map((name) =>
      `docs/${name.replaceAll("\\", "/")}`
    )
  ]
    .filter((path) => path.endsWith(".md"))
    .map((path) => [path, parse(readFileSync(`${root}${path}`, "utf8"))])
)
