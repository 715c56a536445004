/*
 * The link to what a post quotes, in its text for those whose server shows no quotes (FEP-044f): a paragraph, or at the end of
 * one, with the class `quote-inline`.
 */

const inlineQuote = /<(p|span) class="quote-inline">(?:(?!<\/?\1[ >])[^])*<\/\1>/g

/** HTML without it; ours or sanitised. */
export const withoutInlineQuote = (html: string): string =>
  html.includes("quote-inline") ? html.replace(inlineQuote, "").replaceAll("<p></p>", "") : html

/** HTML that begins with it; the address is one of a post's page. */
export const withInlineQuote = (html: string, address: string): string => {
  const escaped = address.replaceAll("&", "&amp;").replaceAll("\"", "&quot;").replaceAll("<", "&lt;").replaceAll(
    ">",
    "&gt;"
  )
  return `<p class="quote-inline">RE: <a href="${escaped}">${escaped}</a></p>${html}`
}
