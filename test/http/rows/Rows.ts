import { readFileSync } from "node:fs"

/** An operation that apps for people know, as Mastodon's documentation has it. */
export interface Row {
  readonly group: string
  readonly method: string
  /** With `:names` for parameters. */
  readonly path: string
  readonly who: string
  /** Any of these scopes suffices; empty if every token does. */
  readonly scopes: ReadonlyArray<string>
  /** It was there once, and is not any more. */
  readonly gone: boolean
  /** Rows of a page without and with the largest `limit`. */
  readonly page: { readonly usual: number; readonly most: number; readonly paging: string } | undefined
}

const known = new Set("read write follow push profile crypto".split(" "))
const isScope = (word: string) => known.has(word.split(":")[0] ?? "")

/** All rows, one a method. */
export const rows: ReadonlyArray<Row> = readFileSync(`${import.meta.dirname}/rows.tsv`, "utf8").trim().split("\n")
  .filter((line) => !line.startsWith("#")).flatMap((line) => {
    const [group = "", methods = "", path = "", who = "", scopes = "", state = "", usual = "", most = "", paging = ""] =
      line.split("\t")
    return methods.split("|").map((method): Row => ({
      group,
      method: method === "ANY" ? "GET" : method,
      path,
      who,
      scopes: scopes.split(" ").filter(isScope),
      gone: state === "gone",
      page: /^\d+$/.test(usual) ? { usual: Number(usual), most: Number(most), paging } : undefined
    }))
  })

export const nameOf = ({ method, path }: Row): string => `${method} ${path}`
