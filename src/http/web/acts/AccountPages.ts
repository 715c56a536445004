import { Clock, Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { parseId } from "../../../services/database/Ids.ts"
import { Accounts } from "../../../services/identity/Accounts.ts"
import { Instance } from "../../../services/instance/Instance.ts"
import { type ClientError, RecordNotFound } from "../../../services/runtime/Errors.ts"
import { type RelationshipRecord, Relationships } from "../../../services/social/Relationships.ts"
import { AccountStatuses } from "../../../services/statuses/AccountStatuses.ts"
import { hidden, tokenInput } from "../../html/Forms.ts"
import { type Html, html } from "../../html/Html.ts"
import { AccountViews } from "../../render/AccountViews.ts"
import { StatusViews } from "../../render/StatusViews.ts"
import { read } from "../../wire/Keys.ts"
import * as Returning from "../shell/Returning.ts"
import type { MemberVisit } from "../shell/Visit.ts"
import { WebPages } from "../shell/WebPages.ts"
import { lineOfStatus, type ShownAccount } from "../status/StatusText.ts"
import { timeOf } from "../status/Times.ts"
import { accountActPath } from "./AccountForms.ts"

/** Posts of the account that a report offers. */
const offeredPosts = 10
/** Lengths of a mute in seconds; 0 is without an end. */
const muteSeconds = [0, 3_600, 86_400, 604_800, 2_592_000] as const
/** Characters of a post that a report shows. */
const excerptCharactersMax = 160

interface Asked {
  readonly account: ShownAccount
  readonly relationship: RelationshipRecord
  /** Start of each form: its token and where it leads back to. */
  readonly start: Html
  /** Post on whose page the reader opened the act. */
  readonly status: bigint | undefined
}

const make = Effect.gen(function*() {
  const accounts = yield* Accounts
  const instance = yield* Instance
  const pages = yield* WebPages
  const published = yield* AccountStatuses
  const relationships = yield* Relationships
  const returning = yield* Returning.make
  const statuses = yield* StatusViews
  const views = yield* AccountViews

  /** Serves a page with the form of one act on an account. */
  const page = (
    last: string,
    show: (
      visit: MemberVisit,
      asked: Asked
    ) => Effect.Effect<{ readonly title: string; readonly content: Html }, ClientError>
  ) =>
    HttpRouter.add(
      "GET",
      `/web/accounts/:id/${last}`,
      pages.member(Effect.fnUntraced(function*(visit) {
        const given = parseId(visit.params["id"])
        if (given === undefined) return yield* new RecordNotFound()
        const { id } = yield* accounts.find(given)
        const [relationship] = yield* relationships.of(visit.viewer, [id])
        if (relationship === undefined || id === visit.viewer) return yield* new RecordNotFound()
        const account = read(yield* views.renderOne(id))
        const status = parseId(visit.query.get("status"))
        const back = yield* returning
        const start = html`${tokenInput(visit.formToken)}${hidden("return", back)}${
          status === undefined ? "" : hidden("status", String(status))
        }`
        const { content, title } = yield* show(visit, { account, relationship, start, status })
        return {
          title,
          body: html`<form method="post" action="${
            accountActPath(String(id))
          }" class="panel act-form">${start}${content}</form>
<p class="back"><a href="${visit.reader.way(back)}${status === undefined ? "" : `#status-${status}`}">${
            visit.reader.words.say("Back")
          }</a></p>`
        }
      }))
    )

  const checkbox = (name: string, label: string, isOn: boolean) =>
    html`<p><label class="check"><input type="checkbox" name="${name}" value="true"${
      isOn ? html` checked` : ""
    }><span>${label}</span></label></p>`

  const mute = page("mute", ({ reader: { words: { say } } }, { account }) => {
    const labels: Readonly<Record<typeof muteSeconds[number], string>> = {
      0: say("Until I undo it"),
      3_600: say("One hour"),
      86_400: say("One day"),
      604_800: say("One week"),
      2_592_000: say("30 days")
    }
    return Effect.succeed({
      title: say("Mute {account}", { account: `@${account.acct}` }),
      content: html`<p>${
        say("You no longer see this account's posts. The account is not told, and can still see yours.")
      }</p>
<p><label>${say("For how long")} <select name="seconds">${
        muteSeconds.map((seconds) => html`<option value="${seconds}">${labels[seconds]}</option>`)
      }</select></label></p>
${checkbox("notifications", say("Hide notifications from this account, too"), true)}
<p><button type="submit" name="act" value="mute">${say("Mute")}</button></p>`
    })
  })

  const block = page("block", ({ reader: { words: { say } } }, { account }) =>
    Effect.succeed({
      title: say("Block {account}", { account: `@${account.acct}` }),
      content: html`<p>${
        say("You no longer see each other's posts, and cannot follow or mention each other. The account may notice.")
      }</p>
<p><button type="submit" name="act" value="block" class="danger">${say("Block")}</button></p>`
    }))

  const note = page("note", ({ reader: { words: { say } } }, { account, relationship }) =>
    Effect.succeed({
      title: say("Private note about {account}", { account: `@${account.acct}` }),
      content: html`<p><label>${say("Private note")}<span class="hint">${
        say("Only you can see it.")
      }</span><textarea name="comment" rows="5" maxlength="2000">${relationship.note}</textarea></label></p>
<p><button type="submit" name="act" value="note">${say("Save")}</button></p>`
    }))

  const follow = page("follow", ({ reader: { words: { say } } }, { account, relationship }) =>
    Effect.succeed({
      title: say("Follow {account}", { account: `@${account.acct}` }),
      content: html`${checkbox("reblogs", say("Show boosts in Home"), relationship.showingReblogs)}${
        checkbox("notify", say("Notify me of new posts"), relationship.notifying)
      }<p><label>${say("Languages")}<span class="hint">${
        say("Language codes such as en, de. Empty for all.")
      }</span><input name="languages" value="${
        (relationship.languages ?? []).join(", ")
      }" autocomplete="off"></label></p>
<p><button type="submit" name="act" value="followOptions">${say("Save")}</button></p>`
    }))

  const report = page(
    "report",
    Effect.fnUntraced(function*(visit, { account, status }) {
      const { words: { say, tag }, words } = visit.reader
      const now = yield* Clock.currentTimeMillis
      const rules = yield* instance.rules
      const selection = { excludeReplies: false, excludeReblogs: true, excludeDirect: true, onlyMedia: false }
      const recent = yield* published.page(visit.viewer, BigInt(account.id), { ...selection, tagged: undefined }, {
        limit: offeredPosts
      })
      const ids = [...new Set([...(status === undefined ? [] : [status]), ...recent])]
      const posts = (yield* statuses.renderNamed(visit.viewer, ids)).map((one) => read(one))
        .filter((one) => one.account.id === account.id)
      const labels: Readonly<Record<string, string>> = {
        spam: say("It is spam"),
        legal: say("It is illegal"),
        violation: say("It breaks the rules of the server"),
        other: say("Something else")
      }
      return {
        title: say("Report {account}", { account: `@${account.acct}` }),
        content: html`<fieldset><legend>${say("What is wrong?")}</legend>${
          Object.entries(labels).map(([category, label]) =>
            html`<p><label class="check"><input type="radio" name="category" value="${category}" required><span>${label}</span></label></p>`
          )
        }</fieldset>${
          rules.length === 0
            ? ""
            : html`<fieldset><legend>${say("Broken rules, if any")}</legend>${
              rules.map((rule) =>
                html`<p><label class="check"><input type="checkbox" name="rule_ids[]" value="${
                  String(rule.id)
                }"><span>${
                  (Object.hasOwn(rule.translations, tag) ? rule.translations[tag] : rule)?.text ?? rule.text
                }</span></label></p>`
              )
            }</fieldset>`
        }${
          posts.length === 0
            ? ""
            : html`<fieldset><legend>${say("Posts that the moderators should see")}</legend>${
              posts.map((post) =>
                html`<p><label class="check" dir="auto"><input type="checkbox" name="status_ids[]" value="${post.id}"${
                  post.id === String(status) ? html` checked` : ""
                }><span>${timeOf(words, post.createdAt, now)} ${
                  lineOfStatus(post, excerptCharactersMax)
                }</span></label></p>`
              )
            }</fieldset>`
        }<p><label>${say("Comment")}<textarea name="comment" rows="4" maxlength="1000"></textarea></label></p>${
          account.acct.includes("@")
            ? checkbox(
              "forward",
              say("Send an anonymous copy to {domain}", { domain: account.acct.split("@")[1] ?? "" }),
              false
            )
            : ""
        }<p><button type="submit" name="act" value="report">${say("Submit report")}</button></p>`
      }
    })
  )

  return Layer.mergeAll(mute, block, note, follow, report)
})

/** Pages of the acts on an account that need input. */
export const layer = Layer.unwrap(make).pipe(Layer.provide([AccountViews.layer, StatusViews.layer]))
