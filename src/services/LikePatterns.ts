/** The pattern of `LIKE` for what begins like that, in small letters; its own signs stand for themselves. */
export const beginning = (text: string): string =>
  `${text.trim().toLowerCase().replace(/[\\%_]/g, (one) => `\\${one}`)}%`
