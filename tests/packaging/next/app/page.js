"use client";

import { useEffect } from "react";
import * as scrip from "scrip";
import basket from "../basket.json";
import { scenario } from "../scenario.mjs";

export default function Page() {
  useEffect(() => {
    window.result = scenario(scrip, basket);
  }, []);
  return <p>scrip in Next.js</p>;
}
