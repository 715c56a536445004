import { readFileSync } from "node:fs"
import { sourcesIn } from "../../../support/source.ts"

interface Row {
  readonly path: string
  readonly permissions: ReadonlyArray<string>
}

/** Every staff page with its permissions, one of which it requires; written independently of the sources. */
export const pages: ReadonlyArray<Row> = readFileSync(`${import.meta.dirname}/pages.tsv`, "utf8").trim().split("\n")
  .map((line) => {
    const [path = "", permissions = ""] = line.split("\t")
    return { path, permissions: permissions.split(" ") }
  })

/** Sources of the pages, including those of leaf capabilities. */
export const sources = sourcesIn("src/http").filter(({ path }) => /^src\/http\/[^/]+\/pages\//.test(path))

/** Paths that the sources declare. */
export const declared: ReadonlyArray<string> = [
  ...new Set(
    sources.flatMap(({ text }) =>
      [...text.matchAll(/staff\.(?:page|file)\(\{\s*path: "(\/admin[^"]*)"/g)].map(([, path = ""]) => path)
    )
  )
]

/** Returns a page's path for an id. */
export const pageOf = (path: string, id: string): string => path.replaceAll(/:\w+/g, id)

/** Returns the names at the top level of the brackets that open at `at`. */
const namesAt = (text: string, at: number): ReadonlyArray<string> => {
  const names: Array<string> = []
  let depth = 0
  for (let here = at; here < text.length; here++) {
    const one = text[here] ?? ""
    if ("{([".includes(one)) depth++
    else if ("})]".includes(one) && --depth === 0) break
    else if (depth === 1 && /[\s,{]/.test(text[here - 1] ?? "")) {
      const [, name] = /^([a-zA-Z]\w*): /.exec(text.slice(here, here + 60)) ?? []
      if (name !== undefined) names.push(name)
    }
  }
  return names
}

/** Actions of each page's buttons, as in the sources. */
export const declaredActs: ReadonlyArray<readonly [path: string, acts: ReadonlyArray<string>]> = sources.flatMap((
  { text }
) =>
  [...text.matchAll(/staff\.page\(\{\s*path: "(\/admin[^"]*)"/g)].flatMap(({ 1: path = "", index }) => {
    const next = text.indexOf("staff.page({", index + 5)
    const at = text.indexOf("acts: {", index)
    return at < 0 || (next > 0 && at > next) ? [] : [[path, namesAt(text, at + 6)] as const]
  })
)
