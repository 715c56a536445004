import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { FileImports } from "../../../src/services/transfers/FileImports.ts"
import { Transfers } from "../../../src/services/transfers/Transfers.ts"
import { json, newPerson, publish } from "../../support/Api.ts"
import { eventually } from "../../support/Eventually.ts"
import type { Person } from "../../support/Server.ts"
import { imported, importServer } from "./ListTransfers.ts"

/** Returns the ids of a member's favourites or bookmarks in the order of the API. */
const listed = (person: Person, kind: "favourites" | "bookmarks") =>
  Effect.map(
    json(person, `/api/v1/${kind}`),
    (all: ReadonlyArray<{ readonly id: string }>) => all.map(({ id }) => id)
  )

layer(importServer, { excludeTestServices: true })("the order of imported lists", (it) => {
  for (const kind of ["favourites", "bookmarks"] as const) {
    it.effect(`F360: ${kind} keep the order of the file, also if a line is processed later and a node dies`, () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const [imports, transfers] = [yield* FileImports, yield* Transfers]
        const [author, reader] = [yield* newPerson(`au_${kind}`), yield* newPerson(`re_${kind}`)]
        const posts = yield* Effect.forEach([0, 1, 2, 3, 4, 5], (n) => publish(author, `Number ${n}`))
        // The order is neither that of the posts nor its reverse.
        const wanted = [3, 0, 5, 1, 4, 2].map((n) => posts[n]!)
        const text = wanted.map(({ uri }) => String(uri)).join("\n")
        const { id } = yield* imports.begin(reader.accountId, {
          bytes: new TextEncoder().encode(text),
          fileName: `${kind}.csv`,
          kind,
          overwrite: false,
          follow: false
        }, false)
        // The first and the fourth line wait, as those of a server that does not respond.
        const later = new Date(Date.now() + 86_400_000)
        yield* sql`UPDATE transfer_lines SET due_at = ${later} WHERE transfer_id = ${id} AND place IN (1, 4)`
        yield* transfers.confirm(reader.accountId, id)
        yield* eventually(
          transfers.find(reader.accountId, id),
          ({ dueAt, processed }) => processed === 4 && dueAt.getTime() === later.getTime()
        )
        // A node died after it had processed them: the next one repeats the lines.
        const past = new Date(0)
        yield* sql`UPDATE transfer_lines SET due_at = ${past}, state = 'waiting' WHERE transfer_id = ${id}`
        yield* sql`UPDATE transfers SET due_at = ${past} WHERE id = ${id}`
        yield* eventually(transfers.find(reader.accountId, id), ({ state }) => state === "finished")
        assert.deepStrictEqual(yield* listed(reader, kind), wanted.map((post) => post.id))
        // A newer entry is above them; an import that names known posts again changes nothing.
        const next = yield* publish(author, "The newest")
        yield* json(reader, `/api/v1/statuses/${next.id}/${kind === "favourites" ? "favourite" : "bookmark"}`, {})
        yield* imported(reader, kind, text.split("\n").toReversed().join("\n"))
        assert.deepStrictEqual(yield* listed(reader, kind), [next.id, ...wanted.map((post) => post.id)])
      }))
  }
})
