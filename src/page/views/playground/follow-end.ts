import { useCallback, useEffect, useRef } from 'preact/hooks'

/** Pixels from the end within which a reader follows it. */
const nearEnd = 120

/** Keeps the end of the document in sight while it grows, unless the reader has scrolled up. */
export function useFollowEnd(): { readonly follow: () => void; readonly resume: () => void } {
  const following = useRef(true)
  useEffect(() => {
    let last = scrollY
    const measure = () => {
      const { scrollHeight } = document.documentElement
      // The event may come after the document has grown: only the reader scrolls up.
      if (scrollHeight - scrollY - innerHeight < nearEnd) following.current = true
      else if (scrollY < last) following.current = false
      last = scrollY
    }
    addEventListener('scroll', measure, { passive: true })
    return () => removeEventListener('scroll', measure)
  }, [])
  const follow = useCallback(() => {
    if (following.current) scrollTo(0, document.documentElement.scrollHeight)
  }, [])
  const resume = useCallback(() => {
    following.current = true
  }, [])
  return { follow, resume }
}
