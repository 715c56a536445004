import type { ServerConfig } from "../../../services/instance/ServerConfig.ts"
import * as Urls from "../../../services/instance/Urls.ts"
import { type Html, html } from "../../html/Html.ts"
import { jsonLd, posting } from "../status/LinkedData.ts"
import { lineOfStatus, plainName, type ShownStatus } from "../status/StatusText.ts"

/** Maximum characters of a description in previews. */
export const descriptionCharactersMax = 300

/** Renders the elements of the head that previews of other sites read: canonical link, OpenGraph and oEmbed. */
export const previewTags = (config: ServerConfig["Service"], status: ShownStatus): Html => {
  const { account } = status
  const address = Urls.status(config, account.username, BigInt(status.id))
  const [image] = status.sensitive ? [] : status.mediaAttachments.filter(({ type }) => type === "image")
  const picture = image?.previewUrl ?? account.avatarStatic
  const description = lineOfStatus(status, descriptionCharactersMax)
  return html`<link rel="canonical" href="${address}">
<meta property="og:type" content="article">
<meta property="og:url" content="${address}">
<meta property="og:title" content="${plainName(account)} (@${account.username}@${config.localDomain})">
<meta property="og:description" content="${description}">
<meta property="og:image" content="${picture}">
<meta property="article:published_time" content="${status.createdAt}">
<meta name="description" content="${description}">
${jsonLd(posting(status, description, address, Urls.profile(config, account.username)))}
${
    status.reblog === null
      ? html`<link rel="alternate" type="application/json+oembed" href="${
        Urls.oEmbed(config, account.username, BigInt(status.id))
      }">`
      : ""
  }`
}
