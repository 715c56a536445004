import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { AccountActors } from "../../../src/actors/account/core/AccountActors.ts"
import { Status, StatusEdit } from "../../../src/http/wire/Status.ts"
import { StatusId } from "../../../src/services/database/Ids.ts"
import { jsonBytes } from "../../../src/services/html/Text.ts"
import { accountBytesMax, statusBytesMax } from "../../../src/services/instance/ContentLimits.ts"
import { settled } from "../../support/Actors.ts"
import { followers, person } from "../../support/People.ts"
import { status } from "../../support/Posts.ts"
import { address, layerStreams, listener } from "./Streams.ts"

const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Array(Status)))
const decodeEvent = Schema.decodeUnknownEffect(Schema.fromJsonString(Status))
const decodeHistory = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Array(StatusEdit)))
const told = (texts: ReadonlyArray<string>) => texts.reduce((sum, text) => sum + jsonBytes(text), 0)

const get = (path: string) =>
  Effect.flatMap(
    address,
    (at) => Effect.promise(() => fetch(`http://${at}${path}`).then((response) => response.text()))
  )

/** Posts per page, maximum size of a page in bytes, and minimum number of consecutive events. */
const pageRows = 40
const pageBytesMax = 4 * 1_048_576
const eventsMin = 30

layer(layerStreams, { excludeTestServices: true })(
  "Rows from before texts were bounded",
  (it) => {
    it.effect("F13: cause no page larger than 40 posts of 64 kB, and no event that closes a socket", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const actors = yield* AccountActors
        const [author, booster] = [yield* person("vast1"), yield* person("booster1")]
        const reader = yield* listener("reader1", "?stream=user")
        yield* followers(booster, [reader.account])
        const ids = yield* Effect.forEach(Array.from({ length: pageRows + 1 }), () => status(author, "short"))
        yield* settled
        const huge = `<p>${"<b>\u{1f600}</b> \"".repeat(60_000)}</p>`
        yield* sql`UPDATE statuses SET html = ${huge}, spoiler_text = repeat('\u0001\"', 1000), edited_at = NULL
        WHERE account_id = ${author}`
        yield* sql`UPDATE accounts SET display_name = repeat('n', 2000), note_html = ${huge}, updated_at = created_at,
        fields = jsonb_build_array(jsonb_build_object('name', 'n', 'value', 'v', 'html', ${huge}::text, 'verifiedAt', NULL))
        WHERE id = ${author}`
        // A status that is still too large is omitted from the page.
        yield* sql`UPDATE statuses SET url = 'https://a.example/' || repeat('u', 100000) WHERE id = ${ids[0]!}`

        const text = yield* get(`/api/v1/timelines/public?limit=${pageRows}`)
        assert.isBelow(Buffer.byteLength(text), pageBytesMax)
        const page = yield* decode(text)
        assert.lengthOf(page, pageRows)
        for (const { account, content, spoiler_text } of page) {
          assert.isAtMost(told([content, spoiler_text]), statusBytesMax)
          assert.match(content, /^<p>(?:<b>.<\/b> "){100}[^]*<\/p>$/u)
          assert.isAtMost(
            told([account.display_name, account.note, ...account.fields.map(({ value }) => value)]),
            accountBytesMax
          )
        }
        const [only] = yield* decodeHistory(yield* get(`/api/v1/statuses/${ids[1]!}/history`))
        assert.isAtMost(told([only!.content, only!.spoiler_text]), statusBytesMax)
        assert.deepInclude(JSON.parse(yield* get(`/api/v1/statuses/${ids[0]!}`)), { error: "Record not found" })

        for (const id of ids.slice(1, eventsMin + 1)) {
          yield* actors.tell(booster, { _tag: "Reblog", statusId: StatusId.make(id), visibility: null })
        }
        for (let events = 0; events < eventsMin; events++) {
          const { event, payload } = yield* reader.next
          assert.strictEqual(event, "update")
          assert.isBelow(payload!.length, pageBytesMax / pageRows)
          yield* decodeEvent(payload)
        }
      }).pipe(Effect.scoped))
  }
)
