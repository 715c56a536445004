/*
 * Default rows of a page (limits-and-rates.md section 2); a request may ask for twice as many.
 */

export const statusRows = 20
export const accountRows = 40
export const domainRows = 100
export const followedTagRows = 100
export const notificationRows = 40
export const adminRows = 100
export const trendRows = 10
