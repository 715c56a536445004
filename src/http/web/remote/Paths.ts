/** Page on which visitors continue on their own server. */
export const interactRoute = "/interact"

/** Path of that page for one of our profiles or posts, by its URL. */
export const interactPath = (url: string): string => `${interactRoute}?${new URLSearchParams({ uri: url })}`
