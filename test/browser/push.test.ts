import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { english } from "../../src/services/languages/Catalogs.ts"
import { pushText } from "../../src/services/push/PushTexts.ts"
import { ask, newPerson, publishedId, settled } from "../support/Api.ts"
import { TestServer } from "../support/Server.ts"
import { Browser, visit } from "./Browser.ts"
import { signIn } from "./Visits.ts"

/** Waits for the notifications that the worker shows, and returns them. */
const shownBy = (count: number) =>
  `(async () => {
    const registration = await navigator.serviceWorker.ready
    for (;;) {
      const all = await registration.getNotifications()
      if (all.length >= ${count}) {
        return all.map(({ body, data, icon, tag, title }) => ({ body, data, icon, tag, title }))
      }
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  })()`

/** Presses the notification with a tag. Tests cannot reach the desktop, so the worker's event is simulated. */
const press = (tag: string) =>
  `(async () => {
    const [notification] = await self.registration.getNotifications({ tag: ${JSON.stringify(tag)} })
    return await new Promise((resolve) => {
      self.clients.openWindow = (url) => Promise.resolve(resolve(url))
      self.dispatchEvent(new NotificationEvent("notificationclick", { notification }))
    })
  })()`

layer(Layer.merge(TestServer.layer(), Browser.layer), { excludeTestServices: true })(
  "push notifications, in a browser",
  (it) => {
    it.effect("F284: each is shown with title, text and icon, and opens its post or account", () =>
      Effect.gen(function*() {
        const { baseUrl } = yield* TestServer
        const [ada, bob] = [yield* newPerson("ada"), yield* newPerson("bob")]
        const first = yield* publishedId(bob, "@ada the first one")
        yield* publishedId(bob, "@ada the second one")
        yield* ask(bob, "POST", `/api/v1/accounts/${ada.accountId}/follow`)
        yield* settled
        const { body: list } = yield* ask(ada, "GET", "/api/v1/notifications")
        assert.lengthOf(list, 3)
        const { page, problems } = yield* visit()
        yield* Effect.promise(async () => {
          await page.context().grantPermissions(["notifications"], { origin: baseUrl })
          await page.goto(`${baseUrl}/home`)
          await signIn(page, ada)
          await page.goto(`${baseUrl}/home`)
          await page.evaluate("navigator.serviceWorker.ready.then(() => true)")
          const cdp = await page.context().newCDPSession(page)
          const registered = new Promise<string>((resolve) =>
            cdp.on("ServiceWorker.workerRegistrationUpdated", ({ registrations }) => {
              const [one] = registrations
              if (one !== undefined) resolve(one.registrationId)
            })
          )
          await cdp.send("ServiceWorker.enable")
          const registrationId = await registered
          for (const { account, id, status, type } of list) {
            const data = pushText(english, {
              token: "secret",
              locale: "en",
              notificationId: BigInt(id),
              type,
              name: account.display_name || account.username,
              icon: account.avatar_static,
              html: status?.content ?? account.note
            })
            await cdp.send("ServiceWorker.deliverPushMessage", { origin: baseUrl, registrationId, data })
          }
          const shown = await page.evaluate<ReadonlyArray<Record<string, string>>>(shownBy(3))
          assert.sameMembers(shown.map(({ tag }) => tag), list.map(({ id }: { readonly id: string }) => id))
          const mention = list.find(({ status }: { readonly status?: { readonly id: string } }) => status?.id === first)
          const told = shown.find(({ tag }) => tag === mention.id)
          assert.strictEqual(told?.["title"], "You were mentioned by bob")
          assert.strictEqual(told?.["body"], "@ada the first one")
          assert.isTrue(told?.["icon"]?.startsWith(baseUrl))
          const [worker] = page.context().serviceWorkers()
          const opened = await worker!.evaluate<string>(press(mention.id))
          await page.goto(new URL(opened, baseUrl).href)
          assert.strictEqual(page.url(), `${baseUrl}/@bob/${first}`)
          const follow = list.find(({ type }: { readonly type: string }) => type === "follow")
          await page.goto(new URL(await worker!.evaluate<string>(press(follow.id)), baseUrl).href)
          assert.strictEqual(page.url(), `${baseUrl}/@bob`)
        })
        assert.deepStrictEqual(problems, [])
      }))
  }
)
