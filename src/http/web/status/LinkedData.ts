import { type Html, html, raw } from "../../html/Html.ts"
import { plainName, type ShownAccount, type ShownStatus } from "./StatusText.ts"

/**
 * Renders structured data for search engines (schema.org). It is a data block, which policies for scripts do not
 * concern; `<` and `>` are escaped, so that no value ends the element.
 */
export const jsonLd = (value: Readonly<Record<string, unknown>>): Html =>
  html`<script type="application/ld+json">${
    raw(
      JSON.stringify({ "@context": "https://schema.org", ...value }).replaceAll("<", "\\u003c").replaceAll(
        ">",
        "\\u003e"
      )
    )
  }</script>`

const personOf = (account: ShownAccount, address: string) => ({
  "@type": account.bot ? "Organization" : "Person",
  name: plainName(account),
  alternateName: `@${account.acct}`,
  url: address,
  image: account.avatarStatic
})

/** Describes a profile. */
export const profilePage = (shown: {
  readonly address: string
  readonly account: ShownAccount
  readonly about: string
}) => ({
  "@type": "ProfilePage",
  url: shown.address,
  dateCreated: shown.account.createdAt,
  mainEntity: { ...personOf(shown.account, shown.address), description: shown.about }
})

/** Describes a post; `text` is its warning if it has one. */
export const posting = (status: ShownStatus, text: string, address: string, author: string) => ({
  "@type": "SocialMediaPosting",
  url: address,
  datePublished: status.createdAt,
  ...(status.editedAt !== null && { dateModified: status.editedAt }),
  headline: text.slice(0, 110).toWellFormed(),
  text,
  author: personOf(status.account, author)
})

/** Returns the link of a verified field as `rel=me`, by which other sites verify theirs; nothing for other fields. */
export const relMe = (field: string, verifiedAt: string | null): Html => {
  const [, address] = verifiedAt === null ? [] : /href="(https?:\/\/[^"]*)"/.exec(field) ?? []
  return address === undefined ? html`` : html`<link rel="me" href="${raw(address)}">
`
}
