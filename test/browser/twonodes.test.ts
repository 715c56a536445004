import { NodeCrypto, NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { chromium, type Page } from "playwright-core"
import * as NodeKeyOperations from "../../src/layers/NodeKeyOperations.ts"
import { type Account, makeAccounts, type Node, request } from "../cluster/Nodes.ts"
import { TwoNodes } from "../cluster/TwoNodes.ts"
import { eventually } from "../support/Eventually.ts"
import * as Programs from "../support/programs/Programs.ts"
import { streamOpens } from "./LivePages.ts"
import { signIn } from "./Visits.ts"

const services = TwoNodes.layer.pipe(
  Layer.provideMerge(NodeKeyOperations.layer),
  Layer.provideMerge(Layer.merge(NodeServices.layer, NodeCrypto.layer))
)

/** Opens Home in a browser that resolves the server's name to one node. */
const homeAt = Effect.fnUntraced(function*({ baseUrl, variables }: Node, { username }: Account) {
  const { host } = new URL(baseUrl)
  const { host: name } = new URL(variables.PUBLIC_URL)
  const browser = yield* Effect.acquireRelease(
    Effect.promise(() =>
      chromium.launch({
        executablePath: Programs.path("chromium"),
        args: ["--no-sandbox", "--disable-gpu", `--host-resolver-rules=MAP ${name}:80 ${host}`]
      })
    ),
    (running) => Effect.promise(() => running.close())
  )
  return yield* Effect.promise(async () => {
    const page = await browser.newPage()
    await page.goto(`${variables.PUBLIC_URL}/home`)
    await signIn(page, { username, password: "correct horse battery staple" })
    await page.goto(`${variables.PUBLIC_URL}/home`)
    await page.evaluate(streamOpens)
    return page
  })
})

const write = async (page: Page, text: string) => {
  await page.locator("textarea[name=text]").first().fill(text)
  await page.getByRole("button", { name: "Post", exact: true }).first().click()
  await page.waitForLoadState()
}

layer(services, { excludeTestServices: true })("two browsers on two nodes", (it) => {
  it.effect("update each other live: posts, a favourite, a reply and a deletion", () =>
    Effect.gen(function*() {
      const nodes = yield* TwoNodes
      const [ada, bob] = yield* makeAccounts(nodes[0].variables, ["ada", "bob"])
      assert.isDefined(ada)
      assert.isDefined(bob)
      for (const [one, other] of [[ada, bob], [bob, ada]] as const) {
        // The nodes may still be dividing the accounts.
        yield* eventually(
          request(nodes[0], one, `/api/v1/accounts/${other.id}/follow`, { method: "POST" }),
          ({ status }) => status === 200
        )
      }
      const [first, second] = [yield* homeAt(nodes[0], ada), yield* homeAt(nodes[1], bob)]
      yield* Effect.promise(async () => {
        await write(first, "Good morning from the first node")
        await second.getByRole("button", { name: "1 new post" }).click()
        const post = second.getByRole("article").filter({ hasText: "Good morning from the first node" }).first()
        await post.waitFor()
        // The favourite is counted in the author's open page.
        const own = first.getByRole("article").filter({ hasText: "Good morning from the first node" }).first()
        await post.locator(`button[value="favourite"]`).click()
        await own.locator(".count", { hasText: "1" }).first().waitFor()
        await post.getByRole("link", { name: /^Reply/ }).click()
        await second.waitForLoadState()
        await second.locator("textarea[name=text]").first().fill("@ada and from the second one")
        await second.getByRole("button", { name: "Post", exact: true }).first().click()
        await second.waitForLoadState()
        await first.getByRole("button", { name: "1 new post" }).click()
        await first.getByRole("article").filter({ hasText: "and from the second one" }).first().waitFor()
      })
    }))
})
