import { assert, layer } from "@effect/vitest"
import { Context, Effect, Fiber, Layer, Option, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { Emails } from "../../../src/services/emails/Emails.ts"
import { EmailAddress, parse } from "../../../src/services/identity/EmailAddresses.ts"
import { MailLinks } from "../../../src/services/identity/MailLinks.ts"
import { givenEmail } from "../../../src/services/identity/RegistrationRules.ts"
import { Registrations } from "../../../src/services/identity/Registrations.ts"
import { Users } from "../../../src/services/identity/Users.ts"
import { Tokens } from "../../../src/services/oauth/Tokens.ts"
import { get } from "../../support/Requests.ts"
import { client, password, user } from "../../support/SignedIn.ts"
import * as TestBrowser from "../../support/TestBrowser.ts"
import { Postbox, server } from "../../support/WebServer.ts"

const requestLink = Effect.fnUntraced(function*(email: string) {
  const browser = TestBrowser.make()
  yield* browser.submit(yield* browser.get("/auth/password/new"), { email })
  const link = new URL(/https:\S+/.exec((yield* Postbox.next).text)?.[0] ?? "")
  return link.pathname + link.search
})

layer(server(), { excludeTestServices: true })("password reset", (it) => {
  it.effect("sets a new password once and signs the user out everywhere", () =>
    Effect.gen(function*() {
      const tokens = yield* Tokens
      const accountId = yield* user("ada")
      const app = yield* client("read")
      const { secret } = yield* tokens.issue({ appId: app.id, accountId }, ["read"])
      const elsewhere = TestBrowser.make()
      yield* elsewhere.signIn("ada")

      const link = yield* requestLink(" ADA@mail.example ")
      const browser = TestBrowser.make()
      const form = yield* browser.get(link)
      const short = yield* browser.submit(form, { password: "short" })
      assert.strictEqual(short.status, 422)
      assert.include(short.text, "is too short (minimum is 8 characters)")
      const done = yield* browser.submit(short, { password: "a new password" })
      assert.include(done.text, "Your password was set")
      assert.include((yield* Postbox.next).subject, "Your password was changed")

      assert.strictEqual((yield* browser.submit(form, { password: "another password" })).status, 404, "it works once")
      assert.strictEqual((yield* browser.get(link)).status, 404)
      assert.strictEqual((yield* elsewhere.get("/oauth/authorized_applications")).status, 302)
      assert.isTrue(Option.getOrThrow(yield* tokens.find(secret)).revoked)
      assert.strictEqual((yield* get("/oauth/token/info", Redacted.value(secret))).status, 401)
      assert.strictEqual((yield* browser.signIn("ada")).status, 422, "the old password is no more")
      const page = yield* browser.get("/auth/sign_in")
      const signedIn = yield* browser.submit(page, { email: "ada@mail.example", password: "a new password" })
      assert.strictEqual(signedIn.status, 302)
    }))

  it.effect("row 77: responds the same for an unknown address, and sends nothing", () =>
    Effect.gen(function*() {
      yield* user("bert")
      const browser = TestBrowser.make()
      const requestReset = Effect.fnUntraced(function*(email: string) {
        return (yield* browser.submit(yield* browser.get("/auth/password/new"), { email })).text
      })
      const responses = [
        yield* requestReset("nobody@mail.example"),
        yield* requestReset("not an address"),
        yield* requestReset("bert@mail.example")
      ]
      assert.strictEqual(new Set(responses).size, 1)
      assert.strictEqual((yield* Postbox.next).to, "bert@mail.example")
    }))

  it.effect("F11: an invalid address does not wait", () =>
    Effect.gen(function*() {
      let posted = 0
      const letters = Layer.succeed(Emails, { enqueue: () => Effect.sync(() => void posted++) })
      const links = yield* Effect.provide(MailLinks, Layer.fresh(Layer.provide(MailLinks.layer, letters)))
      for (const email of ["", "nobody", "@".repeat(1_000_000), `${"a".repeat(1_000_000)}@mail.example`]) {
        yield* links.requestPasswordReset(parse(email))
        yield* links.requestConfirmation(parse(email))
      }
      assert.strictEqual(posted, 0)
      yield* links.requestPasswordReset(parse(" Nobody@mail.example "))
      assert.strictEqual(posted, 1)
    }))

  it.effect("the link works for six hours, and only the last e-mail's", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* user("cleo")
      const [first, second] = [yield* requestLink("cleo@mail.example"), yield* requestLink("cleo@mail.example")]
      assert.strictEqual((yield* get(first)).status, 404)
      assert.strictEqual((yield* get(second)).status, 200)
      const [row] = yield* sql<{ life: number }>`SELECT extract(epoch FROM expires_at - created_at)::int AS life
        FROM mail_tokens ORDER BY created_at DESC LIMIT 1`
      assert.strictEqual(row?.life, 6 * 3600)
      yield* sql`UPDATE mail_tokens SET expires_at = created_at`
      assert.strictEqual((yield* get(second)).status, 404)
    }))

  it.effect("F17: the link confirms the address that it was sent to, and expires when the address changes", () =>
    Effect.gen(function*() {
      const [registrations, users, links] = [yield* Registrations, yield* Users, yield* MailLinks]
      const accountId = yield* registrations.create({
        username: "mallory",
        email: givenEmail("mallory@mail.example"),
        password: Redacted.make(password),
        approved: true,
        confirmed: false
      })
      const confirmed = Effect.map(users.find(accountId), (found) => {
        const { confirmed, email } = Option.getOrThrow(found)
        return [email, confirmed]
      })
      const secretOf = (link: string) => new URLSearchParams(link.split("?")[1]).get("reset_password_token") ?? ""
      const reset = (secret: string) => Effect.result(links.resetPassword(secret, Redacted.make("another password")))
      const asked = secretOf(yield* requestLink("mallory@mail.example"))
      yield* users.change(accountId, { email: EmailAddress.make("victim@mail.example") })
      assert.isFalse(yield* links.opensPasswordReset(asked))
      assert.strictEqual((yield* reset(asked))._tag, "Failure")
      assert.deepStrictEqual(yield* confirmed, ["victim@mail.example", false])
      // The old address again: the expired link stays expired.
      yield* users.change(accountId, { email: EmailAddress.make("mallory@mail.example") })
      assert.strictEqual((yield* reset(asked))._tag, "Failure")

      const again = secretOf(yield* requestLink("mallory@mail.example"))
      assert.strictEqual((yield* reset(again))._tag, "Success")
      assert.deepStrictEqual(yield* confirmed, ["mallory@mail.example", true])
      yield* Postbox.next
    }))

  it.effect("F17: a reader of mail to a former address gets no link to the account", () =>
    Effect.gen(function*() {
      const [users, links] = [yield* Users, yield* MailLinks]
      const accountId = yield* user("nina")
      yield* users.change(accountId, { unconfirmedEmail: EmailAddress.make("new@mail.example") })
      yield* links.sendConfirmation(Option.getOrThrow(yield* users.find(accountId)))
      const email = yield* Postbox.next
      const confirmation = new URL(/https:\S+/.exec(email.text)?.[0] ?? "").searchParams.get("confirmation_token") ??
        ""
      const old = new URLSearchParams((yield* requestLink("nina@mail.example")).split("?")[1])
      yield* links.confirm(confirmation)
      assert.isFalse(yield* links.opensPasswordReset(old.get("reset_password_token") ?? ""))
    }))

  it.effect("F17: a link works once, also with concurrent uses, and not during an address change", () =>
    Effect.gen(function*() {
      const [sql, users, links] = [yield* SqlClient.SqlClient, yield* Users, yield* MailLinks]
      const accountId = yield* user("olga")
      const link = new URLSearchParams((yield* requestLink("olga@mail.example")).split("?")[1])
      const reset = links.resetPassword(link.get("reset_password_token") ?? "", Redacted.make("another password"))
      const used = yield* Effect.all(Array.from({ length: 5 }, () => Effect.result(reset)), {
        concurrency: "unbounded"
      })
      assert.strictEqual(used.filter(({ _tag }) => _tag === "Success").length, 1)
      yield* Postbox.next
      const later = new URLSearchParams((yield* requestLink("olga@mail.example")).split("?")[1])
      const racing = yield* sql.withTransaction(Effect.gen(function*() {
        yield* users.change(accountId, { email: EmailAddress.make("other@mail.example") })
        return yield* Effect.forkDetach(
          Effect.result(links.resetPassword(later.get("reset_password_token") ?? "", Redacted.make("a third password")))
            .pipe(
              Effect.updateContext((context: Context.Context<never>) => Context.omit(sql.transactionService)(context))
            ),
          { startImmediately: true }
        )
      }))
      assert.strictEqual((yield* Fiber.join(racing))._tag, "Failure")
    }))

  it.effect("a link for one purpose does not work for another", () =>
    Effect.gen(function*() {
      yield* user("dora")
      const link = yield* requestLink("dora@mail.example")
      const secret = new URLSearchParams(link.split("?")[1]).get("reset_password_token") ?? ""
      assert.strictEqual((yield* get(`/auth/confirmation?confirmation_token=${secret}`)).status, 404)
      assert.strictEqual((yield* get("/.well-known/change-password")).headers.get("location"), "/auth/password/new")
    }))
})
