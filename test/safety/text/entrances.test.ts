import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { permissions } from "../../../src/services/staff/Permissions.ts"
import { publishedId } from "../../support/Api.ts"
import { TestServer } from "../../support/Server.ts"
import { staffMember } from "../../support/Staff.ts"
import { call, post } from "../Calls.ts"
import { assertNoServerError, assertServed } from "../hostile/Pages.ts"
import { type Field, fields } from "./Fields.ts"
import { pauseIn } from "./Pauses.ts"
import { filled, mixedText, worstTexts } from "./worstTexts.ts"

/** Maximum time for which the event loop may be blocked, in CPU milliseconds. */
const pauseMillisMax = 50
/** Attempts per request; the shortest pause counts, because garbage collection adds time. */
const triesMax = 5
/** Length of the longest text in a body, and of a usual one in a body, a form and a URL, in UTF-16 code units. */
const [longUnits, bodyUnits, formUnits, queryUnits] = [280_000, 8_000, 8_000, 1_500]
/** Texts per field; neighbouring fields get different ones. Forms and paths get all. */
const [longOfField, textsOfField, queriesOfField] = [1, 6, 6]

/** Long texts that every field of a body gets. */
const heaps = [`aaaaaaaa${filled("\u0301\u0316", longUnits)}`, mixedText(longUnits)]
const textsOf = (units: number) => worstTexts(units).map(([, text]) => text)
const [long, usual] = [textsOf(longUnits), [mixedText(bodyUnits), ...textsOf(bodyUnits)]]
const written = textsOf(formUnits).map((text) => text.toWellFormed())
const short = textsOf(queryUnits).map((text) => text.toWellFormed())

/** Returns the next texts of a list for the field with this index. */
const next = (texts: ReadonlyArray<string>, at: number, count: number) =>
  Array.from({ length: count }, (_, index) => texts[(at * count + index) % texts.length] ?? "")

const textsFor = ({ form, query }: Field, at: number) =>
  form
    ? written
    : query
    ? next(short, at, queriesOfField)
    : [...heaps, ...next(long, at, longOfField), ...next(usual, at, textsOfField)]

/** Returns the beginning of a text, and its length. */
const nameOf = (text: string) => `${JSON.stringify(text.slice(0, 12))}, ${text.length} units`

/** Returns true for a plain key of a form; `a[b][c]` is a path in JSON. */
const isPlain = (name: string) => /^\w+$/.test(name)

const pathOf = ({ path }: Field, ids: { readonly account: string; readonly status: string }) =>
  path.replaceAll(/:\w+/g, () => path.includes("/accounts/") ? ids.account : ids.status)

layer(TestServer.layer(), { excludeTestServices: true })("F104: the worst texts of clients", (it) => {
  it.effect(
    `block the event loop for ${pauseMillisMax} ms at most, in any field`,
    ({ annotate }) =>
      Effect.gen(function*() {
        const { createPerson } = yield* TestServer
        const [eve, ada] = [yield* createPerson("eve"), yield* createPerson("ada")]
        const staff = yield* staffMember(
          "zoe",
          Object.keys(permissions).map((name) => name as keyof typeof permissions)
        )
        yield* post(`/api/v1/accounts/${eve.accountId}/follow`, ada)
        const status = yield* publishedId(staff, "hello #tag")
        const ids = { account: String(eve.accountId), status }

        const sent = (field: Field, text: string) => {
          const path = pathOf(field, ids)
          if (field.query) {
            return call(field.method, `${path}?${encodeURIComponent(field.name)}=${encodeURIComponent(text)}`, staff)
          }
          if (field.form) {
            return call(field.method, path, undefined, undefined, {
              redirect: "manual",
              body: new URLSearchParams({ [isPlain(field.name) ? field.name : "a"]: text })
            })
          }
          // Encoded here, as writing the body is no work of the server.
          const body = new TextEncoder().encode(JSON.stringify(field.json?.(text)))
          return call(field.method, path, staff, undefined, { body, headers: { "content-type": "application/json" } })
        }
        const slow: Array<string> = []
        const statuses: Record<number, number> = {}
        const timed = Effect.fnUntraced(function*(about: string, request: ReturnType<typeof sent>) {
          let least = Infinity
          for (let tries = 0; tries < triesMax && least >= pauseMillisMax; tries++) {
            const [response, pause] = yield* pauseIn(request)
            assertNoServerError(response, about)
            statuses[response.status] = (statuses[response.status] ?? 0) + 1
            least = Math.min(least, pause)
          }
          if (least >= pauseMillisMax) slow.push(`${about}: ${Math.round(least)} ms`)
        })
        let pairs = 0
        for (const [at, field] of fields.entries()) {
          for (const text of textsFor(field, at)) {
            pairs++
            yield* timed(`${field.method} ${field.path} ${field.name} (${nameOf(text)})`, sent(field, text))
          }
        }
        const paths = [...new Set(fields.map(({ path }) => path))].filter((path) => path.includes(":"))
        for (const path of paths) {
          for (const text of short) {
            pairs++
            const place = path.replaceAll(/:\w+/g, encodeURIComponent(text))
            yield* timed(`GET ${path} (${nameOf(text)})`, call("GET", place, staff))
          }
        }
        annotate(
          `${fields.length} fields and ${paths.length} paths, ${pairs} texts in them, responses by status: ${
            JSON.stringify(statuses)
          }`
        )
        // Some of them must pass the first checks.
        assert.isAbove(statuses[200] ?? 0, 50)
        assert.deepStrictEqual(slow, [])
        assert.isAbove(fields.length, 500)
        assert.isAbove(pairs, 15_000)
        yield* assertServed(ada, "all of them")
      })
  )
})
