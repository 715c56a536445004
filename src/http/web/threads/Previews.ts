import type { ServerConfig } from "../../../services/instance/ServerConfig.ts"
import * as Urls from "../../../services/instance/Urls.ts"
import { type Html, html } from "../../html/Html.ts"
import { jsonLd, posting } from "../status/LinkedData.ts"
import { plainName, type ShownStatus } from "../status/Text.ts"

/** Maximum characters of a description in previews. */
const descriptionCharactersMax = 300

/** Returns the warning or the text of a status without markup, cut to `max` characters. */
export const descriptionOf = (
  { content, spoilerText }: Pick<ShownStatus, "content" | "spoilerText">,
  max = descriptionCharactersMax
): string => {
  const text = spoilerText || content.replace(/<br[^<>]*>|<\/p>/g, " ").replace(/<[^<>]*>/g, "")
    .replace(/&lt;/g, "<").replace(/&gt;/g, ">").replace(/&quot;/g, "\"").replace(/&#39;/g, "'").replace(/&amp;/g, "&")
  const plain = text.replace(/\s+/g, " ").trim()
  return plain.length > max ? `${plain.slice(0, max - 1).toWellFormed()}…` : plain
}

/** Renders the elements of the head that previews of other sites read: canonical link, OpenGraph and oEmbed. */
export const previewTags = (config: ServerConfig["Service"], status: ShownStatus): Html => {
  const { account } = status
  const address = Urls.status(config, account.username, BigInt(status.id))
  const [image] = status.sensitive ? [] : status.mediaAttachments.filter(({ type }) => type === "image")
  const picture = image?.previewUrl ?? account.avatarStatic
  return html`<link rel="canonical" href="${address}">
<meta property="og:type" content="article">
<meta property="og:url" content="${address}">
<meta property="og:title" content="${plainName(account)} (@${account.username}@${config.localDomain})">
<meta property="og:description" content="${descriptionOf(status)}">
<meta property="og:image" content="${picture}">
<meta property="article:published_time" content="${status.createdAt}">
<meta name="description" content="${descriptionOf(status)}">
${jsonLd(posting(status, descriptionOf(status), address, Urls.profile(config, account.username)))}
${
    status.reblog === null
      ? html`<link rel="alternate" type="application/json+oembed" href="${
        Urls.oEmbed(config, account.username, BigInt(status.id))
      }">`
      : ""
  }`
}
