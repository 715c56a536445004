import type { RelationshipRecord } from "../../../services/social/Relationships.ts"
import { hidden, tokenInput } from "../../html/Forms.ts"
import { type Html, html } from "../../html/Html.ts"
import type { Values } from "../../wire/Keys.ts"
import type { FeaturedTag } from "../../wire/Tag.ts"
import { accountActPath, accountMenu } from "../acts/AccountForms.ts"
import { icon } from "../shell/Icons.ts"
import type { Visit } from "../shell/Visit.ts"
import { foreign, nameOf, profilePath, type ShownAccount, withEmojis } from "../status/Text.ts"

/** Renders the button that follows or unfollows, and the relationship in words. */
const followForm = (visit: Visit, account: ShownAccount, relationship: RelationshipRecord): Html => {
  const { formToken, here, reader: { words: { say } } } = visit
  const { followedBy, following, requested } = relationship
  const [act, label] = following
    ? ["unfollow", say("Unfollow")]
    : requested
    ? ["unfollow", say("Withdraw request")]
    : ["follow", account.locked ? say("Request to follow") : say("Follow")]
  return html`<form method="post" action="${accountActPath(account.id)}" class="row">${tokenInput(formToken)}${
    hidden("return", here)
  }<button type="submit" name="act" value="${act}"${act === "follow" ? "" : html` class="plain"`}>${label}</button>${
    followedBy ? html`<span class="badge">${say("Follows you")}</span>` : ""
  }</form>`
}

const fieldsOf = (account: ShownAccount, say: Visit["reader"]["words"]["say"]): Html =>
  account.fields.length === 0 ?
    html`` :
    html`<dl class="fields">${
      account.fields.map(({ name, value, verifiedAt }) =>
        html`<div${verifiedAt === null ? "" : html` class="verified"`}><dt dir="auto">${
          withEmojis(html`${name}`, account.emojis)
        }</dt><dd dir="auto">${foreign(value, account.emojis)}${
          verifiedAt === null ?
            "" :
            html` <span title="${say("Verified link")}">${icon("check")}<span class="unseen">${
              say("Verified link")
            }</span></span>`
        }</dd></div>`
      )
    }</dl>`

interface Shown {
  readonly account: ShownAccount
  /** Full handle, `@name@domain`. */
  readonly handle: string
  readonly tags: ReadonlyArray<Values<FeaturedTag>>
  readonly relationship: RelationshipRecord | undefined
}

/** Renders the top of a profile: pictures, name, text, fields, counts and the follow button. */
export const headOf = (visit: Visit, { account, handle, relationship, tags }: Shown): Html => {
  const { way, words: { month, say } } = visit.reader
  const path = profilePath(account.acct)
  return html`<section class="profile">
<img class="banner" src="${account.headerStatic}" alt="${account.headerDescription}">
<div class="who"><img src="${account.avatarStatic}" alt="${account.avatarDescription}" width="88" height="88">${
    relationship === undefined || visit.viewer === undefined || account.id === String(visit.viewer)
      ? ""
      : html`<div class="row">${followForm(visit, account, relationship)}${
        accountMenu(visit, account, relationship)
      }</div>`
  }</div>
<p class="name"><strong dir="auto">${nameOf(account)}</strong><br><span class="soft">${handle}${
    account.bot ? ` · ${say("automated")}` : ""
  }${account.locked ? html` ${icon("lock")}<span class="unseen">${say("Approves followers")}</span>` : ""}</span></p>
${
    account.moved === undefined ?
      "" :
      html`<p class="problem">${say("This account has moved to another one.")} <a href="${
        way(profilePath(account.moved.acct))
      }">@${account.moved.acct}</a></p>`
  }
<div class="content" dir="auto">${foreign(account.note, account.emojis)}</div>
${fieldsOf(account, say)}
${
    tags.length === 0 ?
      "" :
      html`<p class="tags">${
        tags.map(({ name }) => html`<a href="${way(`${path}/tagged/${encodeURIComponent(name)}`)}">#${name}</a> `)
      }</p>`
  }
<p class="soft">${
    [
      say("{count, plural, one {# post} other {# posts}}", { count: account.statusesCount }),
      ...(account.hideCollections === true ? [] : [
        say("{count, plural, one {# follower} other {# followers}}", { count: account.followersCount }),
        say("{count, number} following", { count: account.followingCount })
      ]),
      say("here since {month}", { month: month(new Date(account.createdAt)) })
    ].join(" · ")
  }</p></section>`
}
