import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { ask, publishedId, settled } from "../support/Api.ts"
import { TestServer } from "../support/Server.ts"
import { Browser } from "./Browser.ts"
import { phone, press, signIn } from "./Visits.ts"

layer(Layer.merge(TestServer.layer(), Browser.layer), { excludeTestServices: true })(
  "the way back after an act",
  (it) => {
    for (const javaScriptEnabled of [true, false]) {
      const mode = javaScriptEnabled ? "with" : "without"
      it.effect(`shows the true state at the same place, and sends no form again, ${mode} scripts`, () =>
        Effect.gen(function*() {
          const { baseUrl, createPerson } = yield* TestServer
          const [nora, otto] = [yield* createPerson(`nora${mode}`), yield* createPerson(`otto${mode}`)]
          yield* ask(nora, "POST", `/api/v1/accounts/${otto.accountId}/follow`, {})
          const ids: Array<string> = []
          for (let at = 0; at < 16; at++) {
            ids.unshift(yield* publishedId(otto, `Post ${at}\n\nof\n\nfive\n\nlines`))
          }
          const poll = yield* publishedId(otto, "Tea or coffee?", {
            poll: { options: ["Tea", "Coffee"], expires_in: 3_600 }
          })
          const own = yield* publishedId(nora, "Written by mistake")
          yield* ask(nora, "POST", "/api/v2/filters", {
            title: "Weather",
            context: ["home"],
            keywords_attributes: [{ keyword: "rain" }]
          })
          yield* settled
          const context = yield* phone(javaScriptEnabled)
          yield* Effect.promise(async () => {
            const page = await context.newPage()
            const open = (path: string) => page.goto(baseUrl + path)
            const article = (id: string) => page.locator(`#status-${id}`)
            const button = (id: string, act: string) => article(id).locator(`button[value="${act}"]`)
            /** Goes back; a page that only a form can load again fails here. */
            const back = async (path: string) => {
              const response = await page.goBack()
              assert.isBelow(response?.status() ?? 200, 400)
              assert.strictEqual(new URL(page.url()).pathname, path)
            }
            /** Waits until a post is on the screen: browsers restore the place after they have loaded a page. */
            const onScreen = async (id: string) => {
              for (let look = 0; look < 1_000; look++) {
                const box = await article(id).boundingBox()
                if (box !== null && box.y < 844 && box.y + box.height > 0) return
                await page.waitForTimeout(20)
              }
              assert.fail(`the post ${id} is not on the screen`)
            }
            await open("/home")
            await signIn(page, nora)

            // Favourite and boost in the middle of the list; then a thread, and back.
            await open("/home")
            const middle = ids[9]!
            for (const act of ["favourite", "reblog"]) {
              await button(middle, act).click()
              await button(middle, `un${act}`).waitFor()
            }
            await onScreen(middle)
            await article(middle).locator("time").first().click()
            await page.waitForURL(`**/${middle}`)
            await back("/home")
            await button(middle, "unfavourite").waitFor()
            await button(middle, "unreblog").waitFor()
            await onScreen(middle)

            // An act in the thread; the list shows it after the way back.
            await article(middle).locator("time").first().click()
            await page.waitForURL(`**/${middle}`)
            await button(middle, "unfavourite").click()
            await button(middle, "favourite").waitFor()
            while (new URL(page.url()).pathname !== "/home") await page.goBack()
            await button(middle, "favourite").waitFor()
            await onScreen(middle)

            // A vote.
            await open("/home")
            await article(poll).getByLabel("Coffee").check()
            await article(poll).getByRole("button", { name: "Vote" }).click()
            await article(poll).getByText("your vote").waitFor()
            await article(poll).locator("time").first().click()
            await page.waitForURL(`**/${poll}`)
            await back("/home")
            await article(poll).getByText("your vote").waitFor()

            // A reply: the way back leads to the list, and no second press sends it twice.
            await open("/home")
            await article(ids[3]!).getByRole("link", { name: /^Reply/ }).first().click()
            await page.waitForURL(/reply_to=/)
            await page.locator("textarea[name=text]").first().fill(`Reply of ${mode}`)
            await page.getByRole("button", { name: "Post", exact: true }).last().click()
            await page.waitForURL(({ pathname, search }) => !search.includes("reply_to") && pathname !== "/publish")
            await page.getByText(`Reply of ${mode}`).first().waitFor()
            await back("/publish")
            await back("/home")

            // A deletion.
            await open("/home")
            await article(own).locator("summary.act").last().click()
            await article(own).getByRole("link", { name: "Delete", exact: true }).click()
            await page.getByRole("button", { name: "Delete", exact: true }).last().click()
            await article(own).waitFor({ state: "detached" })
            await page.waitForLoadState()
            await open("/home")
            await page.goBack().catch((error) => assert.fail(String(error)))
            assert.strictEqual(await page.getByText("Written by mistake").count(), 0)

            // A follow.
            await open(`/@${otto.username}`)
            await page.getByRole("button", { name: /^Unfollow/ }).first().click()
            await page.getByRole("button", { name: /^Follow @/ }).first().waitFor()
            await open("/about")
            await back(`/@${otto.username}`)
            await page.getByRole("button", { name: /^Follow @/ }).first().waitFor()

            // A filter and a setting: the form has what was saved.
            await open("/settings/filters")
            await page.getByRole("link", { name: "Weather" }).first().click()
            await page.waitForURL(/filters\/\d+/)
            const filterPath = new URL(page.url()).pathname
            await page.locator("input[name=title]").fill("Rain")
            await press(page, "Save changes")
            await open("/home")
            while (new URL(page.url()).pathname !== filterPath) await page.goBack()
            assert.strictEqual(await page.locator("input[name=title]").inputValue(), "Rain")
            await open("/settings/profile")
            await page.locator("input[name=display_name]").fill("Nora the Second")
            await press(page, "Save changes")
            await page.getByText("The settings were saved.").first().waitFor()
            await open("/about")
            await back("/settings/profile")
            assert.strictEqual(await page.locator("input[name=display_name]").inputValue(), "Nora the Second")
            await page.goBack()
            assert.isFalse(await page.getByText("The settings were saved.").first().isVisible())
          })
          const { body } = yield* ask(nora, "GET", `/api/v1/accounts/${nora.accountId}/statuses`)
          assert.lengthOf(
            (body as ReadonlyArray<{ readonly content: string }>).filter(({ content }) => content.includes("Reply of")),
            1
          )
        }))
    }
  }
)
