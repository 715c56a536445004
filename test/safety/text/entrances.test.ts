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
/** Length of a text in a body, in a URL and in a form, in UTF-16 code units. */
const [bodyUnits, queryUnits, formUnits] = [280_000, 1_500, 8_000]

const heaps = [`aaaaaaaa${filled("\u0301\u0316", bodyUnits)}`, mixedText(bodyUnits)]
const texts = worstTexts(bodyUnits).map(([, text]) => text).flatMap((text) => heaps.concat(text))
const short = worstTexts(queryUnits).map(([, text]) => text.toWellFormed())

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

        const sent = (field: Field, at: number) => {
          const text = texts[at % texts.length] ?? ""
          const brief = short[at % short.length] ?? ""
          const path = pathOf(field, ids)
          if (field.query) {
            return call(field.method, `${path}?${encodeURIComponent(field.name)}=${encodeURIComponent(brief)}`, staff)
          }
          if (field.form) {
            return call(field.method, path, undefined, undefined, {
              redirect: "manual",
              body: new URLSearchParams({
                [isPlain(field.name) ? field.name : "a"]: text.slice(0, formUnits).toWellFormed()
              })
            })
          }
          return call(field.method, path, staff, field.json?.(text))
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
        for (const [at, field] of fields.entries()) {
          yield* timed(`${field.method} ${field.path} ${field.name}`, sent(field, at))
        }
        const paths = [...new Set(fields.map(({ path }) => path))].filter((path) => path.includes(":"))
        for (const [at, path] of paths.entries()) {
          const value = encodeURIComponent(short[at % short.length] ?? "")
          yield* timed(`GET ${path}`, call("GET", path.replaceAll(/:\w+/g, value), staff))
        }
        annotate(`${fields.length} fields, responses by status: ${JSON.stringify(statuses)}`)
        // Some of them must pass the first checks.
        assert.isAbove(statuses[200] ?? 0, 50)
        assert.deepStrictEqual(slow, [])
        assert.isAbove(fields.length, 500)
        yield* assertServed(ada, "all of them")
      })
  )
})
