import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { fileBytesMax } from "../../../../src/services/transfers/ListFileText.ts"
import { json, newPerson } from "../../../support/Api.ts"
import { eventually } from "../../../support/Eventually.ts"
import { TestServer } from "../../../support/Server.ts"
import { staffBrowser } from "../../../support/StaffBrowser.ts"
import { formsOf } from "../../../support/TestBrowser.ts"

const path = "/settings/imports"

/** Opens a signed-in browser that uploads files to the import form. */
const opened = Effect.fnUntraced(function*(name: string) {
  const { baseUrl } = yield* TestServer
  const person = yield* newPerson(name)
  const browser = yield* staffBrowser(person)
  const upload = Effect.fnUntraced(function*(
    content: string | Uint8Array<ArrayBuffer>,
    fileName: string,
    fields: Record<string, string> = {}
  ) {
    const page = yield* browser.get(path)
    const { action, fields: hidden } = formsOf(page).find(({ acts }) => acts.includes("import"))!
    const body = new FormData()
    for (const [key, value] of Object.entries({ ...hidden, ...fields, act: "import" })) body.set(key, value)
    body.set("file", new Blob([content]), fileName)
    return yield* browser.request(action, { method: "POST", body, headers: { origin: baseUrl } })
  })
  return { person, browser, upload }
})

/** Follows the redirect after an upload; returns the page of the import. */
const planOf = Effect.fnUntraced(function*(
  { browser, upload }: Effect.Success<ReturnType<typeof opened>>,
  ...[content, fileName, fields]: Parameters<Effect.Success<ReturnType<typeof opened>>["upload"]>
) {
  const sent = yield* upload(content, fileName, fields)
  assert.strictEqual(sent.status, 303, sent.text)
  return yield* browser.follow(sent)
})

/** Confirms an import and returns its page once it has ended. */
const finished = Effect.fnUntraced(function*(
  { browser }: Effect.Success<ReturnType<typeof opened>>,
  plan: Effect.Success<ReturnType<typeof planOf>>
) {
  const at = formsOf(plan).find(({ acts }) => acts.includes("confirm"))!.action.replace("/web", "")
  assert.strictEqual((yield* browser.press(plan, "confirm")).status, 303)
  return yield* eventually(browser.get(at), ({ text }) => /role="status">(?:Finished|Failed|Cancelled)/.test(text))
})

layer(TestServer.layer(), { excludeTestServices: true })("web import and export", (it) => {
  it.effect("an exported file is imported by another member, after a preview", () =>
    Effect.gen(function*() {
      const mia = yield* opened("mia")
      const { accountId: noraId } = yield* newPerson("nora")
      const { accountId: olafId } = yield* newPerson("olaf")
      yield* json(mia.person, `/api/v1/accounts/${noraId}/follow`, { reblogs: false })
      yield* json(mia.person, `/api/v1/accounts/${olafId}/block`, {})
      const page = yield* mia.browser.get(path)
      assert.match(page.text, /Follows<\/td><td>1<\/td><td><a href="\/settings\/exports\/follows.csv" download/)
      const file = yield* mia.browser.get("/settings/exports/follows.csv")
      assert.match(file.headers.get("content-disposition") ?? "", /filename="following_accounts.csv"/)
      const domain = new URL((yield* TestServer).baseUrl).host
      assert.strictEqual(
        file.text,
        `Account address,Show boosts,Notify on new posts,Languages\r\nnora@${domain},false,false,\r\n`
      )
      assert.strictEqual((yield* mia.browser.get("/settings/exports/blocks.csv")).text, `olaf@${domain}\r\n`)

      const pia = yield* opened("pia")
      const plan = yield* planOf(pia, file.text, "following_accounts.csv")
      assert.include(plan.text, "1 entry is added.")
      assert.include(plan.text, `<bdi>nora@${domain}</bdi>`)
      assert.deepStrictEqual(yield* json(pia.person, `/api/v1/accounts/${pia.person.accountId}/following`), [])
      const done = yield* finished(pia, plan)
      assert.include(done.text, "1 added, 0 removed")
      const [relationship] = yield* json(pia.person, `/api/v1/accounts/relationships?id=${noraId}`)
      assert.deepStrictEqual([relationship.following, relationship.showing_reblogs], [true, false])
      assert.include((yield* pia.browser.get(path)).text, "following_accounts.csv")
    }))

  it.effect("F317: lines that cannot be imported are shown with their reasons, and can be downloaded and imported again", () =>
    Effect.gen(function*() {
      const quin = yield* opened("quin")
      const text = "Account address,Hide notifications\nnot an address,true\nnobody-here,false\nquin,true\n"
      const plan = yield* planOf(quin, text, "muted_accounts.csv")
      assert.include(plan.text, "3 lines cannot be imported.")
      const done = yield* finished(quin, plan)
      assert.include(done.text, "<bdi>not an address,true</bdi>: Not a valid address")
      const [, link = ""] = /href="([^"]*failures\.csv)"/.exec(done.text) ?? []
      const failures = (yield* quin.browser.get(link)).text
      const domain = new URL((yield* TestServer).baseUrl).host
      assert.strictEqual(
        failures,
        `Account address,Hide notifications,Reason\r\n"not an address,true",,invalid\r\n` +
          `nobody-here@${domain},false,not_found\r\nquin@${domain},true,not_allowed\r\n`
      )
      assert.include((yield* planOf(quin, failures, "muted_accounts.csv")).text, "3 lines cannot be imported.")
    }))

  it.effect("a file of another kind than the chosen one is reported before its import", () =>
    Effect.gen(function*() {
      const rosa = yield* opened("rosa")
      const plan = yield* planOf(rosa, "Account address,Hide notifications\nrosa,true\n", "x.csv", { kind: "follows" })
      assert.match(plan.text, /looks like another kind: Muted accounts/)
      const refused = yield* rosa.upload("anna@example.org\n", "people.csv")
      assert.strictEqual(refused.status, 422)
      assert.include(refused.text, "Kind cannot be detected from the file")
    }))

  it.effect("files in UTF-16 are read; other encodings, binary files and empty ones are refused with a message", () =>
    Effect.gen(function*() {
      const sven = yield* opened("sven")
      yield* newPerson("toni")
      const utf16 = new Uint8Array(Buffer.from("\ufeffAccount address,Show boosts\ntoni,true\n", "utf16le"))
      assert.include((yield* planOf(sven, utf16, "a.csv")).text, "1 entry is added.")
      // Longer than the maximum key of a B-tree.
      const long = Array.from({ length: 2_000 }, (_, at) => String.fromCodePoint(0x4e00 + (at * 7_919) % 20_000)).join(
        ""
      )
      const lists = yield* planOf(sven, `${long},toni\nshort,toni\nhttps://x.example/${long},toni\n`, "lists.csv")
      assert.include(lists.text, "entries are added.")
      const latin = new Uint8Array(Buffer.from("Account address,Show boosts\nm\xfcller,true\n", "latin1"))
      for (
        const [content, problem] of [
          [latin, "Data is not a text in UTF-8 or UTF-16"],
          [new Uint8Array([80, 75, 3, 4, 0, 0, 0, 1]), "Data is not a text in UTF-8 or UTF-16"],
          ["\"".padEnd(100_000, "x"), "Data is not a CSV file"],
          ["a\n".repeat(20_002), "Data are too many (maximum is 20000)"],
          ["{\"custom_filters\": 1}", "Data is not a file of filters"]
        ] as const
      ) {
        const refused = yield* sven.upload(content, "follows.csv")
        assert.strictEqual(refused.status, 422, problem)
        assert.include(refused.text, problem)
      }
    }))

  it.effect("a file of exactly 20 MB is read, and a larger one is refused", () =>
    Effect.gen(function*() {
      const wim = yield* opened("wim")
      yield* newPerson("tess")
      const row = `tess,${"x".repeat(1_200)}\n`
      const rows = Math.floor(fileBytesMax / row.length)
      const file = row.repeat(rows).slice(0, -1).padEnd(fileBytesMax, "x")
      const plan = yield* planOf(wim, file, "blocks.csv")
      assert.include(plan.text, "1 entry is added.")
      const refused = yield* wim.upload(`${file}x`, "blocks.csv")
      assert.strictEqual(refused.status, 422)
      assert.include(refused.text, "File file size must be less than 20 MB")
    }))

  it.effect("an import of another member is not found, and a sixth open one is refused", () =>
    Effect.gen(function*() {
      const [uma, vera] = [yield* opened("uma"), yield* opened("vera")]
      const plan = yield* planOf(uma, "uma\n", "blocks.csv")
      const at = formsOf(plan).find(({ acts }) => acts.includes("confirm"))!.action.replace("/web", "")
      assert.strictEqual((yield* vera.browser.get(at)).status, 404)
      assert.strictEqual((yield* vera.browser.get(`${at}/failures.csv`)).status, 404)
      for (let more = 0; more < 4; more++) yield* planOf(uma, "uma\n", "blocks.csv")
      const refused = yield* uma.upload("uma\n", "blocks.csv")
      assert.strictEqual(refused.status, 422)
      assert.include(refused.text, "Transfers are too many (maximum is 5)")
      assert.strictEqual((yield* uma.browser.press(plan, "cancel")).status, 303)
      assert.match((yield* uma.browser.get(at)).text, /role="status">Cancelled/)
    }))
})
