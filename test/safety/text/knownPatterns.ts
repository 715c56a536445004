/**
 * Patterns that the checker found linear, but only in more than a quarter of a second. `RECHECK=all` checks them again.
 */
export const slowlyChecked: ReadonlySet<string> = new Set([
  "/^\\/(api\\/|oauth\\/(token|revoke|userinfo)$|\\.well-known\\/|nodeinfo\\/|@[^/]+$|users\\/[^/]+$)/",
  "/^[\\w-]{8,64}$/",
  "/\\b(collectionId|digest|url)=\"([^\"]*)\"/g",
  "/^(?!constructor=|prototype=)[a-z][a-z_]*=[\\w.-]*$/",
  "/^\\/+(?:api|oauth|auth|invites?|settings|unsubscribe|email_subscriptions|admin|disputes|web)(?:\\/|$)/",
  "/^\\/(?:api\\/v1\\/admin\\/site_uploads\\/[^/]+|admin\\/settings\\/appearance)$/",
  "/^[ \\t]*at (\\[.+\\])$/m",
  "/^bearer (.+)$/i",
  "/<[^<>]*>|:([a-zA-Z0-9_]{2,128}):/g",
  "/^(?:text\\/(?:html|css|javascript)|application\\/(?:[\\w.-]+\\+)?(?:json|xml))\\b/",
  "/^\\$argon2id\\$v=19\\$m=(\\d{1,7}),t=(\\d{1,2}),p=(\\d{1,2})\\$([\\w+/]{8,88})\\$([\\w+/]{8,88})$/",
  "/(\\b(?:bearer|basic)\\s+)[\\w.~+/=-]{8,}/gi",
  "/^(?:\\/\\*\\s*<!\\[CDATA\\[\\s*\\*\\/|\\/\\/\\s*<!\\[CDATA\\[|\\/\\*\\s*\\]\\]>\\s*\\*\\/|\\/\\/\\s*\\]\\]>)$/",
  "/^(?:acct:)?@?([\\w.-]{1,2048})@([^@\\s]+)$/i",
  "/,(?=\\s*<)/",
  "/^[\\x21-\\x7e]{6,128}$/",
  "/^([a-z_.]+)(?:-(\\d{1,18}))?-(\\d{1,9})$/",
  "/<(p|span) class=\"quote-inline\">(?:(?!<\\/?\\1[ >])[^])*<\\/\\1>/g",
  "/<\\/p>\\s*<p(?![a-z])/gi",
  "/@([a-z0-9_]+(?:[.-]+[a-z0-9_]+)*)(?:@((?:\\d{1,3}(?:\\.\\d{1,3}){3}|localhost):\\d{2,5}|[\\p{L}\\p{M}\\p{Nd}\\p{Pc}]+(?:[.-]+[\\p{L}\\p{M}\\p{Nd}\\p{Pc}]+)*))?/iuy",
  "/^(?![\\u00b7\\u30fb\\u200c])(?:.*\\p{Alphabetic}|.+[_\\u00b7\\u30fb\\u200c].)/u",
  "/^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\\.)*(?!\\d+$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])$/",
  "/:([a-zA-Z0-9_]{2,128}):/g",
  "/:([a-zA-Z0-9_]{2,2048}):/g",
  "/^[A-Za-z0-9_]{2,128}$/",
  "/^[\\w.~-]{43,128}$/",
  "/^(?:application|text)\\/(?:[\\w.-]+\\+)?(?:json|javascript)(?:\\+oembed)?$/",
  "/^(has|is|language|lang|from|before|after|during|in):(.+)$/su",
  "/^(?=.{1,253}$)[a-z0-9-]{1,63}(?:\\.[a-z0-9-]{1,63})*$/",
  "/^[\\p{L}\\p{N}_.-]{1,100}(?:@[\\p{L}\\p{N}.-]{1,95})?$/u",
  "/^([a-zA-Z0-9_]{1,128})(?:@([^\\s:@/]{1,255}(?::\\d{1,5})?))?$/",
  "/(?<=^|[^\\w:])(:[a-zA-Z0-9_]{2,128}:)(?=$|[^\\w:])/g",
  "/<span translate=\"no\">\\s*(:[a-zA-Z0-9_]{2,128}:)\\s*<\\/span>/g",
  "/\\{\\{\\s*([\\w.[\\]]{1,200})\\s*\\}\\}/g"
])

/** Patterns that are super-linear, or that the checker cannot parse, with the bound of their time. */
export const excepted: Readonly<Record<string, string>> = {
  "/(\\bfrom\\s*|\\bimport\\s*\\(?\\s*)\"[^\"]*?\\/(\\w+)\\.client\\.ts\"/g":
    "ClientScripts.ts reads the server's own scripts, once at the start.",
  "/(\\b[a-z][a-z0-9+.-]{0,31}:\\/\\/[^\\s:/@]{0,255}:)[^\\s@/]+(?=@)/gi":
    "Redaction.ts cuts its text; a slash ends each run, so that no two beginnings look at the same characters.",
  "/[[\\p{Mn}&&[\\p{Script=Inherited}\\p{scx=Arab}\\p{scx=Hebr}]]\\p{Default_Ignorable_Code_Point}\\u0640]/gv":
    "One character, without repetition.",
  "/^\\p{RGI_Emoji}$/v": "Emoji.ts refuses texts of more than 64 UTF-16 code units."
}

/** Files that compose patterns from texts, with their number, and the bound of their time. */
export const composed: Readonly<Record<string, readonly [patterns: number, reason: string]>> = {
  "src/layers/telemetry/Redaction.ts": [2, "It cuts its text. A character that no value has ends each run."],
  "src/services/discovery/LocalUrls.ts": [2, "Anchored, of classes that exclude the character after them."],
  "src/services/html/Markdown.ts": [1, "a union of fixed starts"],
  "src/services/html/TextTokens.ts": [1, "a union of fixed starts"],
  "src/services/languages/Catalogs.ts": [2, "Texts of more than 4,000 characters are not translated."],
  "src/services/search/SearchText.ts": [2, "Two classes without a common character, each repeated once."],
  "src/services/text/BoundedText.ts": [1, "One class, with a repetition of 30."]
}
