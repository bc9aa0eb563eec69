/** Style sheets that a module loads with itself; the build makes files of them. */
declare module '*.css';
