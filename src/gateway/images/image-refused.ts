/** An image that cannot be used. The message is the sentence for the caller, without a full stop. */
export class ImageRefused extends Error {}
