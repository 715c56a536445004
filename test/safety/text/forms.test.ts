import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { readFileSync } from "node:fs"
import { permissions } from "../../../src/services/staff/Permissions.ts"
import { ask } from "../../support/Api.ts"
import { type Person, TestServer } from "../../support/Server.ts"
import { staffMember } from "../../support/Staff.ts"
import { staffBrowser } from "../../support/StaffBrowser.ts"
import { formsOf } from "../../support/TestBrowser.ts"
import { assertServed } from "../hostile/Pages.ts"
import { pauseIn } from "./Pauses.ts"
import { mixedText, worstTexts } from "./worstTexts.ts"

/** Maximum CPU milliseconds that the event loop may be blocked, as for the other entrances. */
const pauseMillisMax = 50
const triesMax = 5
/** Length of a text in a form, in UTF-16 code units: an ordinary one, and one near the limit of a body. */
const units = [8_000, 120_000]
/** Texts per field; neighbouring fields get others. */
const textsOfField = 3

const texts = units.map((count) => [mixedText(count), ...worstTexts(count).map(([, text]) => text.toWellFormed())])

const strangers = [
  "/auth/sign_in",
  "/auth/sign_up",
  "/auth/password/new",
  "/auth/confirmation/new",
  "/auth/password/edit?reset_password_token=none"
]
const staffPages = readFileSync(new URL("../../http/staff/pages/pages.tsv", import.meta.url), "utf8").split("\n")
  .map((line) => line.split("\t")[0] ?? "").filter((path) => /^\/admin[a-z_/]*$/.test(path))

/** Names of the text fields of a page's forms, per form. */
const writtenFields = (text: string): ReadonlyArray<ReadonlyArray<string>> =>
  [...text.matchAll(/<form method="post" action="[^"]*"[^>]*>(.*?)<\/form>/gs)].map(([, inside = ""]) =>
    [...inside.matchAll(/<(?:input|textarea) ([^>]*)>/g)].flatMap(([, attributes = ""]) =>
      /type="(?:hidden|checkbox|radio|file|submit)"/.test(attributes)
        ? []
        : /name="([^"]+)"/.exec(attributes)?.[1] ?? []
    )
  )

/** Parameters of the page on which a user authorizes an app. */
const parameters =
  "client_id redirect_uri response_type scope state code_challenge code_challenge_method lang force_login"
const queryUnits = 1_000

/** Adds a row for each staff page of one row. Returns the pages' paths. */
const oneRowEach = Effect.fnUntraced(function*({ accountId }: Person) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`INSERT INTO announcements (id, text, all_day, created_at, updated_at) VALUES (77, 'W', false, now(), now())`
  yield* sql`INSERT INTO domain_blocks (id, domain, severity, reject_media, reject_reports, obfuscate, created_at,
    updated_at) VALUES (77, 'b.example', 'noop', false, false, false, now(), now())`
  yield* sql`INSERT INTO ip_blocks (id, ip, severity, comment, created_at, updated_at)
    VALUES (77, '192.0.2.0/24', 'sign_up_block', '', now(), now())`
  yield* sql`INSERT INTO rules (id, priority, text, hint, translations) VALUES (77, 1, 'Rule', '', '{}')`
  yield* sql`INSERT INTO roles (id, name, position, permissions) VALUES (77, 'Seven', 1, 0)`
  return [
    ...["announcements", "domain_blocks", "ip_blocks", "roles", "rules"].map((table) => `/admin/${table}/77`),
    `/admin/accounts/${accountId}`,
    "/admin/instances/b.example"
  ]
})

layer(TestServer.layer(), { excludeTestServices: true })("F104: the worst texts in forms", (it) => {
  it.effect(
    `hold the event loop for ${pauseMillisMax} ms at most, in any field of a page`,
    ({ annotate }) =>
      Effect.gen(function*() {
        const staff = yield* staffMember(
          "zoe",
          Object.keys(permissions).map((name) => name as keyof typeof permissions)
        )
        const [outside, inside] = [yield* staffBrowser(), yield* staffBrowser(staff)]
        const slow: Array<string> = []
        const statuses: Record<number, number> = {}
        let at = 0
        const fill = Effect.fnUntraced(function*(browser: typeof inside, path: string) {
          const page = yield* browser.get(path)
          const written = writtenFields(page.text)
          for (const [index, form] of formsOf(page).entries()) {
            if (form.action.startsWith("/auth/sign_out")) continue
            for (const name of written[index] ?? []) {
              for (let text = 0; text < textsOfField * units.length; text++) {
                const [own = []] = [texts[text % units.length]]
                const value = own[at++ % own.length] ?? ""
                const act = form.acts[0] === undefined ? {} : { act: form.acts[0] }
                let least = Infinity
                for (let tries = 0; tries < triesMax && least >= pauseMillisMax; tries++) {
                  const [answer, pause] = yield* pauseIn(browser.submit(page, { ...act, [name]: value }, index))
                  statuses[answer.status] = (statuses[answer.status] ?? 0) + 1
                  assert.isBelow(answer.status, 500, `${path} ${name}`)
                  least = Math.min(least, pause)
                }
                if (least >= pauseMillisMax) {
                  slow.push(`${path} ${name} (${JSON.stringify(value.slice(0, 8))}): ${Math.round(least)} ms`)
                }
              }
            }
          }
        })
        yield* Effect.forEach(strangers, (path) => fill(outside, path), { discard: true })
        yield* Effect.forEach(["/invites", ...staffPages], (path) => fill(inside, path), { discard: true })
        const rows = yield* oneRowEach(staff)
        yield* Effect.forEach(rows, (path) => fill(inside, path), { discard: true })
        const app = yield* ask(staff, "POST", "/api/v1/apps", {
          client_name: "App",
          redirect_uris: "https://app.example/back",
          scopes: "read"
        })
        const valid = new URLSearchParams({
          ["client_id"]: String(app.body.client_id),
          ["redirect_uri"]: "https://app.example/back"
        })
        const queries = worstTexts(queryUnits).map(([, text]) => encodeURIComponent(text.toWellFormed()))
        for (const [place, name] of parameters.split(" ").entries()) {
          for (let text = place; text < queries.length; text += 9) {
            for (const given of ["", `${valid}&`]) {
              const path = `/oauth/authorize?response_type=code&${given}${name}=${queries[text]}`
              const [answer, pause] = yield* pauseIn(inside.get(path))
              assert.isBelow(answer.status, 500, name)
              if (pause >= pauseMillisMax && (yield* pauseIn(inside.get(path)))[1] >= pauseMillisMax) slow.push(path)
            }
          }
        }
        annotate(`${at} texts, answers by status: ${JSON.stringify(statuses)}`)
        assert.deepStrictEqual(slow, [])
        assert.isAbove(at, 300)
        // Some texts must pass the first checks.
        assert.isAbove((statuses[200] ?? 0) + (statuses[422] ?? 0) + (statuses[303] ?? 0), 100)
        yield* assertServed(staff, "all of them")
      }),
    300_000
  )
})
