import { Effect, Layer } from "effect"
import { AccountActors } from "../../../actors/account/core/AccountActors.ts"
import { isPublicSuffix } from "../../../services/federation/DomainNames.ts"
import { confirmedSuffix, validDomain } from "../../../services/federation/domains/RuledDomain.ts"
import { UserDomainBlocks } from "../../../services/social/UserDomainBlocks.ts"
import { hidden } from "../../html/Forms.ts"
import { html } from "../../html/Html.ts"
import { pageOf, pagingLinks } from "../shell/CursorPaging.ts"
import type { MemberVisit } from "../shell/Visit.ts"
import { checkBox, form, textField } from "./FormFields.ts"
import * as SettingPages from "./SettingPages.ts"

const path = "/domain_blocks"
/** Domains on a page. */
const rowsMax = 100

const make = Effect.gen(function*() {
  const actors = yield* AccountActors
  const blocks = yield* UserDomainBlocks
  const page = yield* SettingPages.make

  /** Renders what a block would end, with the button that blocks. */
  const preview = Effect.fnUntraced(function*(visit: MemberVisit, given: string) {
    const { words: { say } } = visit.reader
    const domain = yield* validDomain(given)
    const { followersCount, followingCount } = yield* blocks.preview(visit.viewer, domain)
    return html`<section class="panel"><h2>${say("Block {domain}?", { domain })}</h2>
<p>${say("You will see nothing from its users, and they can no longer follow you.")}</p>
<p>${say("{count, plural, one {You lose # follower.} other {You lose # followers.}}", { count: followersCount })} ${
      say("{count, plural, one {You stop following # account.} other {You stop following # accounts.}}", {
        count: followingCount
      })
    }</p>
${
      form(
        visit,
        html`${hidden("domain", domain)}${
          isPublicSuffix(domain)
            ? checkBox(
              "confirmed",
              say("I mean {domain} itself, although many servers share this ending.", { domain }),
              false
            )
            : ""
        }`,
        { act: "block", button: say("Block server"), danger: true }
      )
    }</section>`
  })

  const show = Effect.fnUntraced(function*(visit: MemberVisit) {
    const { way, words: { say } } = visit.reader
    const asked = visit.query.get("domain")
    const paging = pageOf(visit, rowsMax)
    const rows = yield* blocks.page(visit.viewer, paging)
    return html`${asked === null || asked.trim() === "" ? "" : yield* preview(visit, asked)}
<form method="get" action="${way(path)}">${
      textField("domain", say("Domain"), asked ?? "", {
        required: true,
        hint: say("For example {domain}", { domain: "server.example" })
      })
    }<p class="row"><button type="submit" class="plain">${say("Block a server")}</button></p></form>
<ul class="apps">${
      rows.map(({ domain }) =>
        html`<li><div class="row"><bdi>${domain}</bdi>${
          form(visit, hidden("domain", domain), {
            act: "unblock",
            button: say("Unblock"),
            label: say("Unblock {domain}", { domain })
          })
        }</div></li>`
      )
    }</ul>
${rows.length === 0 ? html`<p class="soft">${say("No servers are blocked.")}</p>` : ""}
${pagingLinks(visit, paging, rows.map(({ cursor }) => cursor))}`
  })

  return page({
    path,
    title: ({ say }) => say("Blocked servers"),
    show,
    acts: {
      block: Effect.fnUntraced(function*({ reader: { words }, viewer }, sent) {
        const domain = yield* validDomain(sent.get("domain") ?? "")
        yield* confirmedSuffix(domain, sent.has("confirmed"))
        yield* actors.tell(viewer, { _tag: "BlockDomain", domain })
        return { to: path, notice: words.say("{domain} is blocked.", { domain }) }
      }),
      unblock: Effect.fnUntraced(function*({ reader: { words }, viewer }, sent) {
        const domain = yield* validDomain(sent.get("domain") ?? "")
        yield* actors.tell(viewer, { _tag: "UnblockDomain", domain })
        return { to: path, notice: words.say("{domain} is no longer blocked.", { domain }) }
      })
    }
  })
})

/** Servers that the member blocks. */
export const layer = Layer.unwrap(make)
