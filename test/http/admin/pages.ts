import { readFileSync } from "node:fs"
import { sourcesIn } from "../../support/source.ts"

interface Row {
  readonly path: string
  readonly permissions: ReadonlyArray<string>
}

/** Every page of staff and the permissions one of which it wants, as they are meant to be. */
export const pages: ReadonlyArray<Row> = readFileSync(`${import.meta.dirname}/pages.tsv`, "utf8").trim().split("\n")
  .map((line) => {
    const [path = "", permissions = ""] = line.split("\t")
    return { path, permissions: permissions.split(" ") }
  })

/** The paths that the sources declare. */
export const declared: ReadonlyArray<string> = [
  ...new Set(
    sourcesIn("src/http/admin").flatMap(({ text }) =>
      [...text.matchAll(/staff\.(?:page|file)\(\{\s*path: "(\/admin[^"]*)"/g)].map(([, path = ""]) => path)
    )
  )
]

/** An address of a page, about what has this id. */
export const pageOf = (path: string, id: string): string => path.replaceAll(/:\w+/g, id)
