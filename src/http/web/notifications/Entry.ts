import { strikesPath } from "../../../services/moderation/StrikeLinks.ts"
import type { NotificationType } from "../../../services/notifications/NotificationTypes.ts"
import { hidden } from "../../html/Forms.ts"
import { type Html, html } from "../../html/Html.ts"
import { accountRow } from "../account/AccountRow.ts"
import type { ShownRelationship } from "../account/FollowForm.ts"
import { requestActs } from "../account/RequestActs.ts"
import { actForm } from "../shell/ActForm.ts"
import { foreignLink } from "../shell/ForeignLink.ts"
import { icon, type IconName } from "../shell/Icons.ts"
import type { MemberVisit } from "../shell/Visit.ts"
import { articleOf } from "../status/Article.ts"
import { excerptLink } from "../status/Excerpt.ts"
import { profilePath, type ShownAccount, type ShownStatus } from "../status/StatusText.ts"
import { timeOf } from "../status/Times.ts"
import { sentenceOf, sentenceText, type ShownGroup } from "./Sentences.ts"

/** Path of the acts on notifications. */
export const notificationActPath = "/web/notifications"

/** A group of notifications with what it names. */
interface EntryParts {
  readonly group: ShownGroup
  /** The accounts, newest first. */
  readonly accounts: readonly [ShownAccount, ...ReadonlyArray<ShownAccount>]
  readonly status: ShownStatus | undefined
  readonly relationship: ShownRelationship | undefined
  readonly unread: boolean
  /** Current time, in milliseconds since 1970. */
  readonly now: number
}

const icons: Readonly<Record<NotificationType, IconName>> = {
  mention: "at",
  status: "bell",
  reblog: "boost",
  favourite: "star",
  "pleroma:emoji_reaction": "smile",
  follow: "person",
  "follow_request": "person",
  poll: "poll",
  quote: "quote",
  "quoted_update": "pen",
  "pending.reply": "reply",
  "pending.favourite": "star",
  "pending.reblog": "boost",
  "pending.quote": "quote",
  update: "pen",
  "added_to_collection": "list",
  "collection_update": "list",
  "admin.sign_up": "person",
  "admin.report": "flag",
  "severed_relationships": "warning",
  "moderation_warning": "warning",
  "annual_report": "calendar"
}

/** Types whose post is the reader's own, which needs no more than its first lines. */
const aboutOwnPost: ReadonlySet<NotificationType> = new Set([
  "reblog",
  "favourite",
  "pleroma:emoji_reaction",
  "pending.favourite",
  "pending.reblog"
])

const avatars = (visit: MemberVisit, accounts: ReadonlyArray<ShownAccount>): Html =>
  html`<p class="faces">${
    accounts.map(({ acct, avatarStatic }) =>
      html`<a href="${
        visit.reader.way(profilePath(acct))
      }"><img src="${avatarStatic}" alt="@${acct}" width="32" height="32" loading="lazy"></a>`
    )
  }</p>`

/** Renders what a notification is about, beyond its sentence. */
const detailOf = (visit: MemberVisit, { accounts, group, now, relationship, status }: EntryParts): Html => {
  const { way, words: { say } } = visit.reader
  const [newest] = accounts
  if (status !== undefined) {
    return aboutOwnPost.has(group.type)
      ? html`<blockquote>${excerptLink(visit, status)}</blockquote>`
      : articleOf(visit, status, { now })
  }
  switch (group.type) {
    case "follow":
    case "follow_request":
      return group.notificationsCount > 1
        ? html``
        : accountRow(visit, newest, group.type === "follow" ? { relationship } : { acts: requestActs(visit, newest) })
    case "added_to_collection":
    case "collection_update": {
      const { collection } = group
      return collection === undefined
        ? html``
        : html`<p>${foreignLink(collection.url, collection.name)}</p>`
    }
    case "admin.report":
      return group.report === undefined
        ? html``
        : html`<p><a href="${way(`/admin/reports/${group.report.id}`)}">${
          say("Report about {account}", { account: `@${group.report.targetAccount.acct}` })
        }</a></p>`
    case "moderation_warning":
      return group.moderationWarning === undefined
        ? html``
        : html`<p><a href="${way(`${strikesPath}/${group.moderationWarning.id}`)}">${say("Show the decision")}</a></p>`
    case "severed_relationships":
      return group.event === undefined ? html`` : html`<p>${
        say(
          "{server}: you lost {followers, plural, one {# follower} other {# followers}} and {following, plural, one {# followed account} other {# followed accounts}}",
          {
            server: group.event.targetName,
            followers: group.event.followersCount,
            following: group.event.followingCount
          }
        )
      }</p>`
    default:
      return html``
  }
}

const emojiOf = ({ emoji, emojiUrl }: ShownGroup): Html | "" =>
  emoji === undefined
    ? ""
    : typeof emojiUrl === "string"
    ? html` <img class="emoji" src="${emojiUrl}" alt="${emoji}" loading="lazy">`
    : html` ${emoji}`

/** Renders a group of notifications as an article of a feed. */
export const entryOf = (visit: MemberVisit, parts: EntryParts): Html => {
  const { accounts, group, now, unread } = parts
  const { words, words: { say } } = visit.reader
  const text = sentenceText(visit, group, accounts[0])
  const at = group.latestPageNotificationAt
  return html`<article class="note${unread ? " unread" : ""}" id="note-${group.pageMaxId ?? ""}" aria-label="${
    unread ? say("New: {text}", { text }) : text
  }"><header>${icon(icons[group.type])}<p>${sentenceOf(visit, group, accounts[0])}${
    emojiOf(group)
  }</p><p class="when soft">${at === undefined ? "" : timeOf(words, at, now)}</p>${
    actForm(
      visit,
      notificationActPath,
      html`${hidden("group", group.groupKey)}<button type="submit" name="act" value="dismiss" class="act" title="${
        say("Dismiss")
      }">${icon("cross")}<span class="unseen">${say("Dismiss")}</span></button>`,
      "dismiss"
    )
  }</header>${accounts.length > 1 ? avatars(visit, accounts) : ""}${detailOf(visit, parts)}</article>`
}
