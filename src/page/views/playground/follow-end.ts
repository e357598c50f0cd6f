import { useCallback, useEffect, useRef } from 'preact/hooks'

/** Pixels from the end within which a reader follows it. */
const nearEnd = 120

/** Keeps the end of the document in sight while it grows, unless the reader has scrolled up. */
export function useFollowEnd(): { readonly follow: () => void; readonly resume: () => void } {
  const following = useRef(true)
  useEffect(() => {
    const measure = () => {
      const { scrollHeight } = document.documentElement
      following.current = scrollHeight - scrollY - innerHeight < nearEnd
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
