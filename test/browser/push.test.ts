import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { english } from "../../src/services/languages/Catalogs.ts"
import { pushText } from "../../src/services/push/PushTexts.ts"
import { ask, newPerson, publishedId, settled } from "../support/Api.ts"
import { TestServer } from "../support/Server.ts"
import { Browser, visit } from "./Browser.ts"
import { tried, workerReady } from "./ServiceWorkers.ts"
import { signIn } from "./Visits.ts"

/** Waits for the notification with a tag that the worker shows, and returns it. */
const shownWith = (tag: string) =>
  `(async () => {
    const registration = await navigator.serviceWorker.ready
    for (;;) {
      const [one] = await registration.getNotifications({ tag: ${JSON.stringify(tag)} })
      if (one !== undefined) return { body: one.body, icon: one.icon, tag: one.tag, title: one.title }
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

/** A notification as `/api/v1/notifications` lists it. */
interface Listed {
  readonly account: { readonly [field: string]: string }
  readonly id: string
  readonly status?: { readonly id: string; readonly content: string }
  readonly type: Parameters<typeof pushText>[1]["type"]
}

/** A notification as the worker shows it. */
interface Shown {
  readonly body: string
  readonly icon: string
  readonly tag: string
  readonly title: string
}

/** The text that the push service delivers. */
const pushed = ({ account, id, status, type }: Listed) =>
  pushText(english, {
    token: "secret",
    locale: "en",
    notificationId: BigInt(id),
    type,
    name: account["display_name"] || account["username"] || "",
    icon: account["avatar_static"] ?? "",
    html: status?.content ?? account["note"] ?? ""
  })

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
        const { body } = yield* ask(ada, "GET", "/api/v1/notifications")
        const list: ReadonlyArray<Listed> = body
        assert.lengthOf(list, 3)
        const { page, problems } = yield* visit()
        yield* Effect.promise(async () => {
          await page.context().grantPermissions(["notifications"], { origin: baseUrl })
          await page.goto(`${baseUrl}/home`)
          await signIn(page, ada)
          await page.goto(`${baseUrl}/home`)
          await workerReady(page)
          const cdp = await page.context().newCDPSession(page)
          const registrationId = await tried("the registration is known", async () => {
            const registered = new Promise<string>((resolve) =>
              cdp.on("ServiceWorker.workerRegistrationUpdated", ({ registrations }) => {
                const [one] = registrations
                if (one !== undefined) resolve(one.registrationId)
              })
            )
            await cdp.send("ServiceWorker.disable")
            await cdp.send("ServiceWorker.enable")
            return await registered
          })
          const deliver = (one: Listed) =>
            tried(`notification ${one.type} is shown`, async () => {
              await cdp.send("ServiceWorker.deliverPushMessage", { origin: baseUrl, registrationId, data: pushed(one) })
              return await page.evaluate<Shown>(shownWith(one.id))
            })
          const shown: Array<Shown> = []
          for (const one of list) shown.push(await deliver(one))
          const count = "navigator.serviceWorker.ready.then((own) => own.getNotifications()).then((all) => all.length)"
          assert.strictEqual(await page.evaluate(count), list.length)
          const mention = list.find(({ status }) => status?.id === first)!
          const told = shown.find(({ tag }) => tag === mention.id)
          assert.strictEqual(told?.title, "You were mentioned by bob")
          assert.strictEqual(told?.body, "@ada the first one")
          assert.isTrue(told?.icon.startsWith(baseUrl))
          /** Returns the address that opens. A press closes the notification, so a press that was lost needs a new one. */
          const openedBy = async (one: Listed) => {
            const opened = await tried(`the press on ${one.type} opens a page`, async () => {
              await deliver(one)
              const worker = page.context().serviceWorkers().at(-1)!
              return await worker.evaluate<string>(press(one.id))
            })
            return new URL(opened, baseUrl).href
          }
          await page.goto(await openedBy(mention))
          assert.strictEqual(page.url(), `${baseUrl}/@bob/${first}`)
          await page.goto(await openedBy(list.find(({ type }) => type === "follow")!))
          assert.strictEqual(page.url(), `${baseUrl}/@bob`)
        })
        assert.deepStrictEqual(problems, [])
      }))
  }
)
