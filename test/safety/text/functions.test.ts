import { assert, describe, it } from "@effect/vitest"
import { Redacted } from "effect"
import { redact } from "../../../src/layers/telemetry/Redaction.ts"
import { embeddingOf } from "../../../src/services/cards/Embeddings.ts"
import { addressesInHtml, addressesInText } from "../../../src/services/cards/StatusLinks.ts"
import { structuredPage } from "../../../src/services/cards/StructuredData.ts"
import { alternateIn } from "../../../src/services/federation/documents/Alternates.ts"
import { normalizeDomain, parseHandle } from "../../../src/services/federation/DomainNames.ts"
import { prepareText } from "../../../src/services/filters/FilterText.ts"
import { makeByteLimit } from "../../../src/services/html/ByteLimit.ts"
import { paragraphs } from "../../../src/services/html/Compose.ts"
import { normalise } from "../../../src/services/html/HashtagNames.ts"
import { withoutInlineQuote } from "../../../src/services/html/InlineQuote.ts"
import { onlyLink } from "../../../src/services/html/Links.ts"
import { markdown, markdownTokens } from "../../../src/services/html/Markdown.ts"
import { plainText } from "../../../src/services/html/PlainText.ts"
import { sanitise } from "../../../src/services/html/Sanitise.ts"
import { exceeds, tooLong } from "../../../src/services/html/Text.ts"
import { lineOfHtml } from "../../../src/services/html/TextLine.ts"
import { tokens } from "../../../src/services/html/TextTokens.ts"
import { parse as parseAddress } from "../../../src/services/identity/EmailAddresses.ts"
import { ofPassword } from "../../../src/services/identity/RegistrationRules.ts"
import { textNodes } from "../../../src/services/instance/ForeignEmojis.ts"
import { preferred } from "../../../src/services/languages/Negotiation.ts"
import * as RedirectUris from "../../../src/services/oauth/RedirectUris.ts"
import * as Scopes from "../../../src/services/oauth/Scopes.ts"
import { identityOf } from "../../../src/services/oidc/ProviderIdentity.ts"
import { readQuery } from "../../../src/services/search/SearchQuery.ts"
import { searchParts } from "../../../src/services/search/SearchText.ts"
import { skeleton } from "../../../src/services/spam/Skeletons.ts"
import { readPost } from "../../../src/services/spam/SpamText.ts"
import { bounded } from "../../../src/services/text/BoundedText.ts"
import { best } from "../../support/MachineSpeed.ts"
import { worstTexts } from "./worstTexts.ts"

/** Maximum CPU milliseconds per text. */
const cpuMillisMax = 50
const [post, page, body] = [65_536, 262_144, 1_048_576]

const meaning = { mentions: new Map(), tagUrl: (name: string) => `https://here.test/tags/${name}` }
const room = () => makeByteLimit(post)

/** Functions that read outside text, with their largest input in UTF-16 code units. */
const readers: Readonly<Record<string, readonly [units: number, read: (text: string) => unknown]>> = {
  "bounds": [body, (text) => bounded(text)],
  "normal names of hashtags": [body, (text) => normalise(bounded(text, post))],
  "filters": [post, (text) => prepareText([bounded(text)])],
  "search": [post, (text) => searchParts(bounded(text.slice(0, 20_000)))],
  "queries of a search": [body, readQuery],
  "rules against spam": [post, (text) => readPost(text, [])],
  "names that look alike": [body, skeleton],
  "passwords": [body, (text) => ofPassword(Redacted.make(text))],
  "e-mail addresses": [body, parseAddress],
  "redirect URIs": [body, (text) => RedirectUris.problemsOf(RedirectUris.split([text]))],
  "scopes": [body, Scopes.parse],
  "domains": [body, normalizeDomain],
  "handles": [body, parseHandle],
  "languages": [body, (text) => preferred(["en", "de"], { lang: text, locale: text, header: text })],
  "lengths": [body, (text) => [tooLong(text), exceeds(text, 5_000)]],
  "words of a post": [post, tokens],
  "HTML of a post": [post, (text) => paragraphs(text, meaning)],
  // Longer ones are refused without reading.
  "Markdown": [post, (text) => tooLong(text) ? undefined : [markdownTokens(text), markdown(text, meaning)]],
  "addresses in a text": [post, addressesInText],
  "cleaned HTML": [page, (text) => sanitise(bounded(text))],
  "cleaned HTML that has to fit": [body, (text) => room().html(text)],
  "plain text": [post, (text) => plainText(bounded(text))],
  "addresses in HTML": [body, addressesInHtml],
  "a field that is a link": [post, onlyLink],
  "a post without its quote": [post, (text) => withoutInlineQuote(`<p class="quote-inline">${text}`)],
  "texts between tags": [post, textNodes],
  "structured data": [131_072, (text) => structuredPage([text])],
  "structured data in comments": [131_072, (text) => structuredPage([`//<![CDATA[\n${text}\n//]]>`])],
  "a line of a card": [body, (text) => lineOfHtml(text, 300)],
  "embeddings": [
    post,
    (text) =>
      embeddingOf({ version: "1.0", type: "video", title: text, author_name: text, html: text }, "https://a.test/")
  ],
  "alternates in a page": [body, (value) => alternateIn({ url: "https://a.test/", link: "", value })],
  "alternates in a header": [16_384, (link) => alternateIn({ url: "https://a.test/", link, value: "" })],
  "claims of an identity provider": [
    page,
    (text) => {
      const claims = { email: text, preferred_username: text, nickname: text, name: text, groups: [text, text] }
      return identityOf("issuer", "subject", claims, claims, "groups")
    }
  ],
  "lines of the log": [body, redact]
}

describe("F104: the worst texts", () => {
  it.each(Object.entries(readers))(`take ${cpuMillisMax} ms of CPU at most: %s`, (_, [units, read]) => {
    const slow = worstTexts(units).flatMap(([name, text]) => {
      const millis = best(() => read(text), cpuMillisMax / 2)
      return millis < cpuMillisMax ? [] : [`${name}: ${Math.round(millis)} ms`]
    })
    assert.deepStrictEqual(slow, [])
  })
})
