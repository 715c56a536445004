import { NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Effect, FileSystem, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Instance, TermsOfService } from "../../src/http/wire/Instance.ts"
import { Broadcast } from "../../src/services/events/Broadcast.ts"
import { Approvals } from "../../src/services/identity/Approvals.ts"
import { InstanceRules } from "../../src/services/instance/InstanceRules.ts"
import { InstanceSettings } from "../../src/services/instance/InstanceSettings.ts"
import { call } from "../support/Api.ts"
import { cli } from "../support/CommandLine.ts"
import { eventually } from "../support/Eventually.ts"
import { TestServer } from "../support/Server.ts"

const Live = Layer.mergeAll(InstanceSettings.layer, InstanceRules.layer, Approvals.layer).pipe(
  Layer.provideMerge(TestServer.layer()),
  Layer.provideMerge(Layer.merge(NodeServices.layer, Broadcast.layerMemory))
)

const run = Effect.fnUntraced(function*(...args: ReadonlyArray<string>) {
  const { variables } = yield* TestServer
  const { code, err, out } = yield* cli(args, variables)
  assert.strictEqual(code, 0, out + err)
  return out
})
const read = (path: string) => Effect.map(call("GET", path, undefined), ({ body }) => body)

/** Returns the written e-mails, by recipient. */
const letters = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const folder = `${(yield* TestServer).variables["DATA_DIR"]}/mail`
  const names = yield* Effect.orElseSucceed(fs.readDirectory(folder), () => [])
  const texts = yield* Effect.forEach(names, (name) => fs.readFileString(`${folder}/${name}`))
  return texts.map((text) =>
    `${/^To: (.*)$/m.exec(text)?.[1]}: ${/^Subject: (.*?) \(localhost:\d+\)\r?$/m.exec(text)?.[1]}`
  ).toSorted()
})

layer(Live, { excludeTestServices: true })("the server's description of itself", (it) => {
  it.effect("F52: the operator sets the server's name and description, and running servers apply it at once", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped()
      const terms = `${folder}/terms.html`
      yield* fs.writeFileString(terms, "<p>Be <strong>kind</strong><script>alert(1)</script></p>")
      const about = `${folder}/about.txt`
      yield* fs.writeFileString(about, "We are <few> & far.\n\nCome in.")
      const { createPerson } = yield* TestServer
      yield* createPerson("hostess")
      assert.strictEqual((yield* read("/nodeinfo/2.0")).metadata.nodeName, "Murmuration")
      yield* run(
        "instance",
        "set",
        "--title",
        "Starlings",
        "--description",
        "A flock",
        "--contact-email",
        "us@example.org",
        "--contact-account",
        "hostess",
        "--languages",
        "de,pt-BR",
        "--terms",
        terms,
        "--terms-date",
        "2026-01-31",
        "--extended-description",
        about,
        "--privacy-policy",
        about
      )
      // The NodeInfo document is cached for half a minute unless a change is published.
      yield* eventually(read("/nodeinfo/2.0"), ({ metadata }) => metadata.nodeName === "Starlings")
      const instance = yield* Schema.decodeUnknownEffect(Instance)(yield* read("/api/v2/instance"))
      assert.deepInclude(instance, { title: "Starlings", description: "A flock", languages: ["de", "pt-BR"] })
      assert.deepInclude(instance.contact, { email: "us@example.org" })
      assert.strictEqual(instance.contact.account?.username, "hostess")
      assert.match(instance.configuration.urls.terms_of_service ?? "", /\/terms-of-service$/)
      for (const path of ["extended_description", "privacy_policy"]) {
        const { content } = yield* read(`/api/v1/instance/${path}`)
        assert.strictEqual(content, "<p>We are &lt;few&gt; &amp; far.</p><p>Come in.</p>")
      }
      for (const path of ["terms_of_service", "terms_of_service/2026-01-31"]) {
        const shown = yield* Schema.decodeUnknownEffect(TermsOfService)(yield* read(`/api/v1/instance/${path}`))
        assert.deepInclude(shown, { effective: true, content: "<p>Be <strong>kind</strong></p>" })
      }
      assert.strictEqual((yield* call("GET", "/api/v1/instance/terms_of_service/2025-01-31", undefined)).status, 404)
      assert.include(yield* run("instance", "show"), "Contact: us@example.org, @hostess")
      yield* run("instance", "set", "--terms", "", "--title", "")
      yield* eventually(read("/api/v2/instance"), ({ title }) => title === "Murmuration")
      assert.strictEqual((yield* call("GET", "/api/v1/instance/terms_of_service", undefined)).status, 404)
      const wrong = [
        ["--title", "x".repeat(101)],
        ["--languages", "not a language"],
        ["--contact-account", "nobody"],
        ["--contact-email", "nowhere at all"],
        ["--terms", about, "--terms-date", "2026-02-30"],
        []
      ]
      const { variables } = yield* TestServer
      const refused = yield* Effect.forEach(wrong, (args) => cli(["instance", "set", ...args], variables), {
        concurrency: 2
      })
      assert.deepStrictEqual(refused.map(({ code }) => code), wrong.map(() => 1))
      for (const { err } of refused) assert.notMatch(err, /\n\s+at /)
    }))

  it.effect("F52: rules are added, reworded, translated, moved and removed", () =>
    Effect.gen(function*() {
      yield* run("instance", "rules", "add", "Be kind", "--hint", "To all")
      yield* run("instance", "rules", "add", "Be brief")
      yield* run("instance", "rules", "move", "2", "1")
      yield* run("instance", "rules", "translate", "2", "de", "Sei nett")
      const texts = (all: ReadonlyArray<{ readonly text: string }>) => all.map(({ text }) => text).join()
      const [, kind] = yield* eventually(read("/api/v1/instance/rules"), (all) => texts(all) === "Be brief,Be kind")
      assert.strictEqual(yield* run("instance", "rules", "list"), "1. Be brief\n2. Be kind (To all)\n   de: Sei nett\n")
      yield* run("instance", "rules", "remove", "1")
      const [left] = yield* eventually(read("/api/v1/instance/rules"), (all) => texts(all) === "Be kind")
      assert.deepInclude(left, { id: kind.id, hint: "To all", translations: { de: { text: "Sei nett", hint: "" } } })
      const rules = yield* InstanceRules
      yield* rules.change(undefined, BigInt(kind.id), { hint: "" })
      yield* rules.change(undefined, BigInt(kind.id), { translations: { de: undefined } })
      const [changed] = yield* eventually(read("/api/v1/instance/rules"), ([one]) => one.hint === "")
      assert.deepInclude(changed, { text: "Be kind", translations: {} })
      for (const id of [0n, 4711n]) {
        assert.strictEqual((yield* Effect.flip(rules.remove(undefined, id)))._tag, "RecordNotFound")
      }
      for (const text of ["", " ", "x".repeat(301)]) {
        assert.strictEqual((yield* Effect.flip(rules.add(undefined, { text, hint: "" })))._tag, "Unprocessable")
      }
    }))

  it.effect("S-101 S-102 F52: pending users are listed, approved or rejected, and everybody concerned gets an e-mail", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { createPerson, fetch } = yield* TestServer
      const people = yield* Effect.forEach(["asking", "begging", "warden"], (name) => createPerson(name))
      const [asking, begging, staff] = people
      // F35: e-mails are in the recipients' languages, otherwise in the server's first language.
      yield* (yield* InstanceSettings).change(undefined, { languages: ["de", "en"] })
      yield* sql`UPDATE users SET locale = 'en' WHERE account_id = ${begging!.accountId}`
      yield* sql`UPDATE users SET locale = 'pt-BR' WHERE account_id = ${staff!.accountId}`
      yield* sql`UPDATE users SET approved = false, reason = ${"I like\nbirds"}
        WHERE account_id IN (${asking!.accountId}, ${begging!.accountId})`
      yield* sql`UPDATE users SET role_id = (SELECT id FROM roles WHERE name = 'Moderator') WHERE account_id = ${
        staff!.accountId
      }`
      const state = (index: number) =>
        Effect.map(
          fetch("/api/v1/accounts/verify_credentials", { token: people[index]!.token }),
          ({ status }) => status
        )
      assert.deepStrictEqual([yield* state(0), yield* state(1)], [403, 403])
      const listed = yield* run("account", "list", "--pending")
      assert.match(listed, /^asking\tasking@example.org\tconfirmed\t[-\d :]{16}\t-\tI like birds\nbegging\t/)
      yield* run("account", "approve", "asking")
      yield* run("account", "reject", "begging")
      yield* eventually(Effect.all([state(0), state(1)]), (found) => String(found) === "200,401")
      assert.strictEqual((yield* call("GET", "/api/v1/accounts/lookup?acct=begging", undefined)).status, 404)
      assert.strictEqual(yield* run("account", "list", "--pending"), "No sign-ups are waiting.\n")
      // The server sends them, so that they are sent even if the command is killed.
      assert.deepStrictEqual(
        yield* eventually(letters, (found) => found.length === 4 && !String(found).includes("undefined")),
        [
          "asking@example.org: Dein Konto wurde genehmigt",
          "begging@example.org: Your sign-up was rejected",
          "warden@example.org: O cadastro de asking foi aprovado",
          "warden@example.org: O cadastro de begging foi rejeitado"
        ]
      )
      const { variables } = yield* TestServer
      for (const word of ["approve", "reject"]) {
        const { code, err } = yield* cli(["account", word, "asking"], variables)
        assert.deepStrictEqual([code, /is not waiting/.test(err)], [1, true], err)
      }
      assert.strictEqual(yield* state(0), 200)
      // Of two concurrent approvals one decides.
      yield* sql`UPDATE users SET approved = false WHERE account_id = ${asking!.accountId}`
      const approvals = yield* Approvals
      const decisions = yield* Effect.all(
        [approvals.approve(asking!.accountId), approvals.reject(asking!.accountId)].map((one) => Effect.option(one)),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(decisions.filter(({ _tag }) => _tag === "Some").length, 1)
    }))
})
