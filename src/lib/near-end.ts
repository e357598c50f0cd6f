// When a key, a budget or a balance is near its end: for the lists of the admin API, and for the page, which says why.

/** A budget of which this much is used is near its end, in percent. */
export const nearlyUsedPercent = 80n

/** A balance of at most this much is low, in nano-dollars: 1 USD. */
export const lowBalance = 1_000_000_000n

/** A key that expires within this time is near its end: 7 days, in milliseconds. */
export const expirySoonMs = 7 * 86_400_000
