import { readFileSync } from "node:fs"

/** A user operation of the API, from Mastodon's documentation. */
export interface Row {
  readonly group: string
  readonly method: string
  /** With `:names` for parameters. */
  readonly path: string
  readonly who: string
  /** Any one of these scopes is enough; empty if every token is. */
  readonly scopes: ReadonlyArray<string>
  /** True if Mastodon removed the operation. */
  readonly gone: boolean
  /** Items per page, without `limit` and with the largest one. */
  readonly page: { readonly usual: number; readonly most: number; readonly paging: string } | undefined
}

const known = new Set("read write follow push profile crypto".split(" "))
const isScope = (word: string) => known.has(word.split(":")[0] ?? "")

/** All rows, one per method. */
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
