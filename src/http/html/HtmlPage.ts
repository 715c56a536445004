import { HttpServerResponse } from "effect/http"
import { appleIconEdge, faviconEdges } from "../../services/instance/PictureSettings.ts"
import type { Catalog } from "../../services/languages/Catalogs.ts"
import { type Html, html, raw } from "./Html.ts"
import { languageAttributes } from "./LanguageAttributes.ts"
import { faviconPath, iconPath, manifestPath, themePath } from "./PagePaths.ts"
import { skipLink } from "./SkipLink.ts"
import { stylesheetPath } from "./Stylesheet.ts"

/** One of the server's own pages. */
export interface Page {
  /** Catalog of the page's language. */
  readonly words: Catalog
  readonly title: string
  /** The server's title, shown on top. */
  readonly server: string
  readonly body: Html
  readonly status?: number
  /** Further sources that a form of this page may lead to (`RedirectUris.formTarget`). */
  readonly formTarget?: string | undefined
  /** Sources of images, video and audio on a page with uploaded files. */
  readonly media?: string
  /** Path of an additional stylesheet. */
  readonly style?: string
  /** oEmbed URL for sites that embed the page. */
  readonly embedding?: string | undefined
  /** True if any site may show the page in a frame. Links of the page then open outside of the frame. */
  readonly framed?: boolean
  /** Navigation on top, instead of the server's name. */
  readonly top?: Html
  /** The one inline script, with its CSP hash. */
  readonly script?: { readonly text: string; readonly hash: string }
  /** Paths of our own scripts that enliven the page. */
  readonly modules?: ReadonlyArray<string>
  /** True if it contains something else that only its visitor may know, so that it is not compressed. */
  readonly secret?: boolean
  /** Script of another server, and the sources that it loads: a captcha. */
  readonly outerScript?: string
  readonly scripts?: string
}

const policy = ({ formTarget, framed, media, modules, script, scripts }: Page): string => {
  return [
    "default-src 'none'",
    `style-src 'self'${scripts === undefined ? "" : ` ${scripts}`}`,
    ...(media === undefined ? ["img-src 'self'"] : [`img-src ${media}`, `media-src ${media}`]),
    ...(script === undefined ? [] : [`script-src '${script.hash}'`]),
    ...(modules === undefined ? [] : ["script-src 'self'"]),
    ...(scripts === undefined
      ? []
      : ["script-src", "frame-src", "connect-src"].map((directive) => `${directive} ${scripts}`)),
    "manifest-src 'self'",
    "base-uri 'none'",
    framed === true ? "frame-ancestors *" : "frame-ancestors 'none'",
    `form-action 'self'${formTarget === undefined ? "" : ` ${formTarget}`}`
  ].join("; ")
}

/**
 * Secrets of a page's visitor: codes, in the text or in hidden fields. Together with the page's address, which another
 * site can choose, its compressed length would leak them (BREACH). Form tokens are masked (`FormTokens.ts`).
 */
const secrets = /<input type="hidden" name="(?!authenticity_token")|class="secret"/

/** Returns true if a page contains secrets of its visitor, so that it may not be compressed. */
export const hasSecrets = (page: string): boolean => secrets.test(page)

/** Headers of a page that nothing may store. */
export const privateHeaders = { "cache-control": "private, no-store" }

/**
 * Headers of a page that nothing may transform: it is not compressed by us (`layers/Compression.ts`) or by a proxy (RFC
 * 9111, 5.2.2.6).
 */
export const noTransformHeaders = { "cache-control": "private, no-store, no-transform" }

/** Returns the page as a response that may not be cached or extended, nor framed unless it is `framed`. */
export const respond = (page: Page): HttpServerResponse.HttpServerResponse => {
  const text = textOf(page)
  return HttpServerResponse.text(text, {
    status: page.status ?? 200,
    contentType: "text/html; charset=utf-8",
    headers: {
      ...securityHeaders,
      ...(page.framed === true ? {} : unframed),
      ...(page.secret === true || hasSecrets(text) ? noTransformHeaders : {}),
      "content-security-policy": policy(page),
      "content-language": page.words.tag,
      vary: "Accept-Language"
    }
  })
}

const textOf = (page: Page): string =>
  String(html`<!doctype html>
<html ${languageAttributes(page.words.tag)}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${page.title} · ${page.server}</title>
${
    faviconEdges.map((edge) =>
      html`<link rel="icon" type="image/png" sizes="${edge}x${edge}" href="${faviconPath(edge)}">
`
    )
  }<link rel="apple-touch-icon" sizes="${appleIconEdge}x${appleIconEdge}" href="${iconPath(appleIconEdge)}">
<link rel="manifest" href="${manifestPath}">
<link rel="stylesheet" href="${stylesheetPath}">
<link rel="stylesheet" href="${themePath}">
${page.style === undefined ? "" : html`<link rel="stylesheet" href="${page.style}">`}
${
    page.embedding === undefined
      ? ""
      : html`<link rel="alternate" type="application/json+oembed" href="${page.embedding}">`
  }
${page.framed === true ? html`<base target="_blank">` : ""}
${page.modules?.map((path) => html`<script type="module" src="${path}"></script>`) ?? ""}
</head>
<body>
${page.framed === true ? "" : skipLink(page.words)}
${page.top ?? html`<header><a href="/">${page.server}</a></header>`}
<main id="content" tabindex="-1">
<h1>${page.title}</h1>
${page.body}
</main>
${page.outerScript === undefined ? "" : html`<script src="${page.outerScript}" async defer></script>`}
${page.script === undefined ? "" : html`<script>${raw(page.script.text)}</script>`}
</body>
</html>
`)

/** `Referrer-Policy` keeps codes in URLs private; with `no-referrer` browsers would hide a form's origin, too. */
const securityHeaders = {
  ...privateHeaders,
  "referrer-policy": "same-origin",
  "x-content-type-options": "nosniff"
}
const unframed = { "x-frame-options": "DENY" }

/** Renders an error above a form. */
export const problem = (text: string | undefined): Html =>
  text === undefined ? html`` : html`<p class="problem" role="alert">${text}</p>`

/** Wraps the text of a link, for `Messages.pieces`. */
export const linkTo = (href: string) => (inner: ReadonlyArray<string>): Html => html`<a href="${href}">${inner}</a>`

/** Redirects a browser that sent a form to one of our pages, which it then requests by GET (RFC 9110, 15.4.4). */
export const seeOther = (path: string): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.setStatus(redirect(path), 303)

/** Redirects the browser; `location` is one of our paths, or an app's registered URI with parameters. */
export const redirect = (location: string): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.redirect(location.toWellFormed().replaceAll(/[^\x21-\x7e]+/g, encodeURIComponent), {
    status: 302,
    headers: { ...securityHeaders, ...unframed }
  })
