import type { RelationshipRecord } from "../../../services/social/Relationships.ts"
import { withEmojis } from "../../html/EmojiText.ts"
import { type Html, html } from "../../html/Html.ts"
import type { Values } from "../../wire/Keys.ts"
import type { FeaturedTag } from "../../wire/Tag.ts"
import { followForm } from "../account/FollowForm.ts"
import { accountMenu } from "../acts/AccountForms.ts"
import { interactPath } from "../remote/Paths.ts"
import { icon } from "../shell/Icons.ts"
import type { Visit } from "../shell/Visit.ts"
import { foreign, nameOf, profilePath, type ShownAccount } from "../status/StatusText.ts"

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
  /** True if other servers can follow the account. */
  readonly federated: boolean
}

/** Renders the top of a profile: pictures, name, text, fields, counts and the follow button. */
export const headOf = (visit: Visit, { account, federated, handle, relationship, tags }: Shown): Html => {
  const { way, words: { month, say } } = visit.reader
  const path = profilePath(account.acct)
  return html`<section class="profile" id="account-${account.id}">
<img class="banner" src="${account.headerStatic}" alt="${account.headerDescription}" width="1500" height="500">
<div class="who"><img src="${account.avatarStatic}" alt="${account.avatarDescription}" width="88" height="88">${
    visit.viewer === undefined
      ? !federated ?
        "" :
        html`<a class="button" rel="nofollow" href="${way(interactPath(account.url))}">${
          say("Follow from your own server")
        }</a>`
      : account.id === String(visit.viewer)
      ? html`<span class="row"><a class="button" href="${way("/settings/profile")}">${say("Edit profile")}</a></span>`
      : relationship === undefined
      ? ""
      : html`<span class="row">${
        relationship.followedBy ? html`<span class="mark">${say("Follows you")}</span>` : ""
      }<a href="${way(`${path}/lists`)}">${say("Lists")}</a>${followForm(visit, account, relationship)}${
        accountMenu(visit, account, relationship)
      }</span>`
  }</div>
<p class="name"><strong dir="auto">${nameOf(account)}</strong><br><span class="soft"><bdi>${handle}</bdi>${
    account.bot ? ` · ${say("automated")}` : ""
  }${account.locked ? html` ${icon("lock")}<span class="unseen">${say("Approves followers")}</span>` : ""}</span></p>
${
    account.moved === undefined ?
      "" :
      html`<p class="problem">${say("This account has moved to another one.")} <a href="${
        way(profilePath(account.moved.acct))
      }"><bdi>@${account.moved.acct}</bdi></a></p>`
  }
<div class="content" dir="auto">${foreign(account.note, account.emojis)}</div>
${fieldsOf(account, say)}
${
    tags.length === 0 ?
      "" :
      html`<p class="tags">${
        tags.map(({ name }) =>
          html`<a href="${way(`${path}/tagged/${encodeURIComponent(name)}`)}"><bdi>#${name}</bdi></a> `
        )
      }</p>`
  }
<p class="soft">${say("{count, plural, one {# post} other {# posts}}", { count: account.statusesCount })}${
    account.hideCollections === true ?
      "" :
      html` · <a href="${way(`${path}/followers`)}">${
        say("{count, plural, one {# follower} other {# followers}}", { count: account.followersCount })
      }</a> · <a href="${way(`${path}/following`)}">${
        say("{count, number} following", { count: account.followingCount })
      }</a>`
  } · ${say("here since {month}", { month: month(new Date(account.createdAt)) })}</p></section>`
}
