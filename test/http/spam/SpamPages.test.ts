import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { administratorBrowser } from "../../support/AdministratorBrowser.ts"
import { newPerson } from "../../support/Api.ts"
import { eventually } from "../../support/Eventually.ts"
import { TestServer } from "../../support/Server.ts"
import { auditEntries, staffMember } from "../../support/Staff.ts"
import { staffBrowser } from "../../support/StaffBrowser.ts"
import { write } from "./SpamCalls.ts"

const path = "/admin/spam_rules"
const held = "/admin/held_posts"
const ruleIds = (text: string) => [...text.matchAll(/\/admin\/spam_rules\/(\d+)"/g)].map(([, id = ""]) => id)
const heldIds = (text: string) => [...text.matchAll(/name="ids\[\]" value="(\d+)"/g)].map(([, id = ""]) => id)

layer(TestServer.layer(), { excludeTestServices: true })("pages for spam rules", (it) => {
  it.effect("S-235: a rule is created, tried out, switched on; held posts are approved and rejected", () =>
    Effect.gen(function*() {
      const { act, accountId, browser, undo } = yield* administratorBrowser("sweeper")
      const anna = yield* newPerson("anna")
      yield* write(anna, "a <b>lottery</b> for all")
      yield* act(`${path}/new`, "create", { name: "Pills", action: "drop", text_words: "pills", links_min: "2" })
      const two = yield* act(`${path}/new`, "create", {
        name: "Lotteries <i>",
        state: "dry",
        action: "hold",
        text_words: "lottery\r\nraffle",
        origin: "local"
      })
      assert.include(two.text, "Lotteries &lt;i&gt;")
      const [pills = "", lotteries = ""] = ruleIds(two.text)
      const moved = yield* act(path, "move", { id: lotteries, place: "1" })
      assert.deepStrictEqual(ruleIds(moved.text), [lotteries, pills])
      const form = yield* browser.get(`${path}/${lotteries}`)
      assert.match(form.text, /name="text_words"[^>]*>\nlottery\nraffle</)
      assert.match(form.text, /<option value="dry" selected>/)

      const run = yield* act(path, "try", { days: "2" })
      assert.include(run.text, "The dry run has started.")
      const [, runPath = ""] = /href="(\/admin\/spam_rules\/dry_runs\/\d+)"/.exec((yield* browser.get(path)).text) ?? []
      const done = yield* eventually(browser.get(runPath), ({ text }) => text.includes("Done</span>"))
      assert.include(done.text, "1 sample of Lotteries &lt;i&gt;")
      const samples = yield* browser.get(`${runPath}?rule=${lotteries}`)
      assert.match(samples.text, /<p class="said" dir="auto">a (?:&lt;b&gt;)?lottery/)

      const on = yield* act(path, "turn", { id: lotteries, state: "on" })
      assert.include((yield* undo(on)).text, "Counting only</span>")
      yield* act(path, "turn", { id: lotteries, state: "on" })
      const posts = []
      for (const text of ["first lottery <script>", "second lottery", "third raffle"]) {
        posts.push((yield* write(anna, text)).body.id)
      }
      const waiting = yield* browser.get(held)
      assert.deepStrictEqual(heldIds(waiting.text), posts.toReversed())
      assert.include(waiting.text, "first lottery &lt;script&gt;")
      assert.include(waiting.text, "Held by the rule Lotteries &lt;i&gt;")
      assert.include(waiting.text, "Public</span>", "for whom it is once it is approved")
      assert.match(waiting.text, /Held posts <span class="count">.*?3<\/span>/)
      const [first = "", second = "", third = ""] = posts
      const sent = yield* browser.press(waiting, "approve", { "ids[]": first })
      assert.include((yield* browser.follow(sent)).text, "1 post was approved.")
      assert.strictEqual((yield* browser.press(waiting, "approve", { "ids[]": first })).status, 404)
      // The buttons of one post name it in the address.
      const asked = yield* browser.get(`${held}?only=${second}`)
      const sure = yield* browser.press(asked, "reject", { "ids[]": third })
      assert.include(sure.text, "1 post is deleted.")
      const rejected = yield* browser.follow(yield* browser.press(sure, "reject"))
      assert.deepStrictEqual(heldIds(rejected.text), [third])
      assert.strictEqual((yield* browser.press(rejected, "approve")).status, 422, "nothing was chosen")

      const removed = yield* act(`${path}/${lotteries}`, "remove")
      assert.deepStrictEqual(ruleIds(removed.text), [pills])
      assert.include((yield* browser.get(held)).text, "Held by a deleted rule")
      assert.includeMembers((yield* auditEntries(BigInt(accountId))).map((entry) => entry.act), [
        "spam_rule create",
        "spam_rule dry_run",
        "spam_rule enable",
        "spam_rule destroy",
        "status approve",
        "status reject"
      ])
    }))

  it.effect("S-235: invalid input is refused and stays in the form", () =>
    Effect.gen(function*() {
      const { browser } = yield* administratorBrowser("fussy")
      const fresh = yield* browser.get(`${path}/new`)
      const right = { name: "Mine", action: "report", text_contains: "x" }
      for (
        const wrong of [
          { name: "" },
          { state: "half" },
          { action: "burn" },
          { score: "1e3" },
          { score: "1001" },
          { links_min: "-1" },
          { links_min: "many" },
          { text_contains: " \r\n" },
          { text_contains: "x".repeat(201) },
          { link_domains: "not a domain" },
          { "look_alike[]": "ducks" },
          { origin: "far" }
        ] as const
      ) {
        const refused = yield* browser.press(fresh, "create", { ...right, ...wrong })
        assert.strictEqual(refused.status, 422, JSON.stringify(wrong))
      }
      const refused = yield* browser.press(fresh, "create", { ...right, score: "2000", text_words: "ducks" })
      assert.match(refused.text, /name="text_words"[^>]*>\nducks</)
      const list = yield* browser.get(path)
      for (const days of ["0", "15", "two"]) {
        assert.strictEqual((yield* browser.press(list, "try", { days })).status, 422, days)
      }
      const moderator = yield* staffBrowser(yield* staffMember("watcher", ["manageReports"]))
      assert.strictEqual((yield* moderator.get(held)).status, 200)
      assert.strictEqual((yield* moderator.get(path)).status, 403)
    }))
})
