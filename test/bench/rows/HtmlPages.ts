import type { Request } from "../load/Connection.ts"
import { authorNumbers, authorOf, readerNumbers } from "../People.ts"
import type { Bench, Row } from "../Row.ts"
import { row } from "./Requests.ts"

/* Pages for browsers, compressed: of visitors without a cookie, and Home of members. */

const page = (path: string, cookie?: string): Request => ({
  method: "GET",
  path,
  headers: {
    host: "127.0.0.1",
    accept: "text/html",
    "accept-encoding": "br",
    ...(cookie === undefined ? {} : { cookie })
  }
})

const sessionOf = (number: number) => `session-of-reader-${number}-for-the-bench`

/** Signs the readers in. */
const signIn = async ({ people, server: { query } }: Bench) => {
  const values = readerNumbers.map((number) =>
    `(sha256(convert_to('${sessionOf(number)}', 'UTF8')), ${people.accountId(number)}, now(), now())`
  )
  await query(
    `INSERT INTO sessions (id_hash, account_id, created_at, seen_at) VALUES ${values.join()} ON CONFLICT DO NOTHING`
  )
}

export const rows: ReadonlyArray<Row> = [
  row("page of a public post", 1, ({ people }) => {
    const first = people.statusIds.length - 500
    return people.statusIds.slice(first).map((id, n) => page(`/@person${authorOf(first + n)}/${id}`))
  }),
  row("page of a profile", 2, () => authorNumbers.map((number) => page(`/@person${number}`))),
  row("page of Home of 20", 3, async (bench) => {
    await signIn(bench)
    return readerNumbers.map((number) => page("/home", `session=${sessionOf(number)}`))
  })
]
