import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ask, newPerson } from "../../support/Api.ts"
import { TestServer } from "../../support/Server.ts"
import { settingsPaths } from "../../support/SettingsPaths.ts"
import { staffBrowser } from "../../support/StaffBrowser.ts"
import { assertServed } from "../hostile/Pages.ts"
import * as FormFilling from "./FormFilling.ts"

/** Pages of the web client that take a text in their query or path. */
const queries = [
  "/search?q=TEXT",
  "/search?type=statuses&q=TEXT",
  "/tags/TEXT",
  "/@TEXT",
  "/interact?uri=TEXT",
  "/interact?uri=https%3A%2F%2Fa.example%2F1&handle=TEXT",
  "/authorize_interaction?uri=TEXT",
  "/intent?text=TEXT",
  "/share?text=TEXT",
  "/publish?text=TEXT",
  "/explore?lang=TEXT",
  "/catchup?lang=TEXT",
  "/domain_blocks?domain=TEXT",
  "/web/compose/completions?q=TEXT",
  "/auth/sign_in?return_to=TEXT",
  "/home?max_id=TEXT"
]

layer(TestServer.layer(), { excludeTestServices: true })("F104: the worst texts in the web client", (it) => {
  it.effect(
    `block the event loop for ${FormFilling.pauseMillisMax} ms at most, in any field, query and path`,
    ({ annotate }) =>
      Effect.gen(function*() {
        const [member, other] = [yield* newPerson("member"), yield* newPerson("other")]
        const { body: post } = yield* ask(other, "POST", "/api/v1/statuses", { status: "A post to reply to" })
        const { body: list } = yield* ask(member, "POST", "/api/v1/lists", { title: "A list" })
        yield* ask(member, "POST", "/api/v2/filters", { title: "A filter", "context": ["home"] })
        const browser = yield* staffBrowser(member)
        const filling = FormFilling.make()
        for (
          const path of [
            "/publish",
            `/@other/${post.id}`,
            "/@other",
            "/lists",
            `/lists/${list.id}`,
            `/lists/${list.id}/members`,
            "/collections",
            "/conversations",
            "/followed_tags",
            "/search?q=words",
            "/drafts",
            "/scheduled",
            ...settingsPaths
          ]
        ) yield* filling.page(browser, path)
        for (const [place, path] of queries.entries()) yield* filling.query(browser, path, place)
        const { statuses, texts } = filling.figures()
        annotate(`${texts} texts, responses by status: ${JSON.stringify(statuses)}`)
        assert.isAbove(texts, 100)
        yield* assertServed(member, "all of them")
      })
  )
})
