/*
 * Fallback link to a quoted post in the text, for servers that do not show quotes (FEP-044f): a paragraph, or a span at
 * its end, with the class `quote-inline`.
 */

const inlineQuote = /<(p|span) class="quote-inline">(?:(?!<\/?\1[ >])[^])*<\/\1>/g

/** Removes the fallback link from HTML of our own or sanitised HTML. */
export const withoutInlineQuote = (html: string): string =>
  html.includes("quote-inline") ? html.replace(inlineQuote, "").replaceAll("<p></p>", "") : html

/** Prepends the fallback link to HTML; `address` is the URL of the quoted post's page. */
export const withInlineQuote = (html: string, address: string): string => {
  const escaped = address.replaceAll("&", "&amp;").replaceAll("\"", "&quot;").replaceAll("<", "&lt;").replaceAll(
    ">",
    "&gt;"
  )
  return `<p class="quote-inline">RE: <a href="${escaped}">${escaped}</a></p>${html}`
}
