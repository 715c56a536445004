import type { RelationshipRecord } from "../../../services/social/Relationships.ts"
import { hidden, tokenInput } from "../../html/Forms.ts"
import { type Html, html } from "../../html/Html.ts"
import { icon, type IconName } from "../shell/Icons.ts"
import type { Visit } from "../shell/Visit.ts"
import type { ShownAccount } from "../status/StatusText.ts"

/** Path of the acts on an account. */
export const accountActPath = (id: string): string => `/web/accounts/${id}`

/**
 * Renders the further acts on an account as a menu: settings of the follow, mention, note, endorsement, mute, block and
 * report. A script opens the pages of acts that need input as dialogs (`data-dialog`).
 */
export const accountMenu = (visit: Visit, account: ShownAccount, relationship: RelationshipRecord): Html => {
  const { formToken, pathAndQuery, reader: { way, words: { say } } } = visit
  const name = { account: `@${account.acct}` }
  const { blocking, endorsed, followedBy, following, muting, requested } = relationship
  const act = (act: string, of: IconName, label: string) =>
    html`<li><button type="submit" name="act" value="${act}" class="item">${icon(of)}${label}</button></li>`
  const page = (last: string, of: IconName, label: string) =>
    html`<li><a class="item" href="${way(`${accountActPath(account.id)}/${last}`)}" data-dialog>${
      icon(of)
    }${label}</a></li>`
  return html`<form method="post" action="${accountActPath(account.id)}" class="account-menu">${tokenInput(formToken)}${
    hidden("return", pathAndQuery)
  }<details class="more"><summary class="act" title="${say("More")}">${icon("more")}<span class="unseen">${
    say("More")
  }</span></summary><ul><li><a class="item" href="${way(`/publish?text=${encodeURIComponent(`@${account.acct} `)}`)}">${
    icon("at")
  }${say("Mention {account}", name)}</a></li>${
    following || requested ? page("follow", "gear", say("Follow settings")) : ""
  }${page("note", "pen", say("Private note"))}${
    following
      ? endorsed
        ? act("unendorse", "star", say("Don't feature on profile"))
        : act("endorse", "star", say("Feature on profile"))
      : ""
  }${followedBy ? act("removeFollower", "leave", say("Remove this follower")) : ""}${
    muting ? act("unmute", "mute", say("Unmute {account}", name)) : page("mute", "mute", say("Mute {account}", name))
  }${
    blocking
      ? act("unblock", "block", say("Unblock {account}", name))
      : page("block", "block", say("Block {account}", name))
  }${page("report", "flag", say("Report {account}", name))}</ul></details></form>`
}
